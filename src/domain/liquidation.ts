import type { HoldSide } from './position.ts'

/** Steps of the distance to a liquidation, from the mildest to the strictest: shares of the mark price. */
export const LIQUIDATION_STEPS = ['warn', 'reduce', 'flatten'] as const
export type LiquidationStep = (typeof LIQUIDATION_STEPS)[number]
export type LiquidationSteps = Readonly<Record<LiquidationStep, number>>

/** A position worth up to `notionalMax` (quote coin) needs `rate` of its whole value as margin. */
export interface MaintenanceTier {
  readonly notionalMax: number
  readonly rate: number
}

/** What an instrument needs at a liquidation: rates as shares of the value of the position. */
export interface MaintenanceRules {
  /** The value at which the last tier ends is the largest position there may be; beyond it the last rate counts. */
  readonly tiers: readonly MaintenanceTier[]
  /** The fee of closing, which is needed too. */
  readonly takerFeeRate: number
}

/**
 * Which figures of a distance there are. `agreed`: ours and the exchange's lie close to each other · `disputed`: they do
 * not · `alone`: they do not for so long that ours counts alone · `ours`, `stated`: there is only one · `none`: neither.
 */
export const DISTANCE_TRUSTS = ['agreed', 'disputed', 'alone', 'ours', 'stated', 'none'] as const
export type DistanceTrust = (typeof DISTANCE_TRUSTS)[number]

/**
 * For so long, in ms, two figures of a liquidation have differed in one reading after the other when ours counts alone: time
 * for a person who was alerted to see which of them is right.
 */
export const LIQUIDATION_DISPUTE_MS = 600_000

/** What is known of liquidations in this run. Changed by `engine/state/liquidations.ts`. */
export interface LiquidationState {
  /** By symbol: the distances of its positions when its reading and the book last agreed on them. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** By symbol and side: those that are nearer than the first step. */
  readonly warned: ReadonlySet<string>
  /** By symbol and step: the reading by which it is nearer, until another says so too. */
  readonly awaited: ReadonlyMap<string, AwaitedReading>
  /** By symbol and side: those of which it was said that our own figure counts alone. */
  readonly alone: ReadonlySet<string>
  /** By symbol: the nearest that one of its positions was in this run. */
  readonly nearest: ReadonlyMap<string, NearestDistance>
}

/** The answers that a reading was made of, Unix ms: when the position was asked for, and when the exchange gave the prices. */
export interface AwaitedReading {
  readonly positionAt: number
  readonly tickersAt: number
}

/** The nearest that a position has come to its liquidation. */
export interface NearestDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  /** A share of the mark price. */
  readonly distance: number
  /** Unix ms, our clock, of the reading. */
  readonly at: number
}

/** How far the mark price of a position is from the price at which the exchange would close it. NaN: not known. */
export interface LiquidationDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly markPrice: number
  /** Quote coin: by our own count, and as the exchange states it. */
  readonly ourPrice: number
  readonly statedPrice: number
  /** Shares of the mark price; Infinity where there is no such price. */
  readonly ours: number
  readonly stated: number
  /** The nearer of those that are known; where ours counts alone it is ours. */
  readonly nearest: number
  /** The same in typical moves of an hour; NaN while fewer than three hours are known. */
  readonly moves: number
  readonly trust: DistanceTrust
  /**
   * Maintenance margin and the fee of closing over what stands behind the position; at 1 it is liquidated. By our own
   * count, and as the exchange states it.
   */
  readonly ratio: number
  readonly statedRatio: number
  /** Never `alone`: nothing is restricted for a ratio. */
  readonly ratioTrust: DistanceTrust
}

/** The closes of an instrument by hours, as far as this run has seen them. Changed by `engine/state/liquidations.ts`. */
export interface HourlyCloses {
  /** Hours since 1970, UTC: the one that is not over yet. */
  readonly hour: number
  /** The last price of each hour until then, the oldest first; NaN where nobody looked. */
  readonly closes: readonly number[]
  /** The median of the moves from hour to hour, as shares; NaN while fewer than three are known. */
  readonly typical: number
}
