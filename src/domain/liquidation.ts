import type { HoldSide } from './position.ts'

/**
 * Steps of the distance to a liquidation, from the mildest to the strictest, as shares of the mark
 * price.
 */
export const LIQUIDATION_STEPS = ['warn', 'reduce', 'flatten'] as const
export type LiquidationStep = (typeof LIQUIDATION_STEPS)[number]
export type LiquidationSteps = Readonly<Record<LiquidationStep, number>>

/** A position worth up to `notionalMax` (quote coin) needs `rate` of its whole value as margin. */
export interface MaintenanceTier {
  readonly notionalMax: number
  readonly rate: number
}

/** The maintenance margin of an instrument: rates as shares of the position's value. */
export interface MaintenanceRules {
  /**
   * The end of the last tier is the largest position allowed; beyond it the last rate still counts.
   */
  readonly tiers: readonly MaintenanceTier[]
  /** The closing fee, which maintenance includes. */
  readonly takerFeeRate: number
}

/**
 * Which figures of a distance are known. `agreed`: ours and the exchange's are close to each other
 * · `disputed`: they are not · `alone`: they have differed for so long that only ours counts ·
 * `ours`, `stated`: only one is known · `none`: neither is.
 */
export const DISTANCE_TRUSTS = ['agreed', 'disputed', 'alone', 'ours', 'stated', 'none'] as const
export type DistanceTrust = (typeof DISTANCE_TRUSTS)[number]

/**
 * When two figures of a liquidation have differed in consecutive readings for this long, in ms,
 * only ours counts: by then a person who was alerted can have found out which of them is right.
 */
export const LIQUIDATION_DISPUTE_MS = 600_000

/** Liquidation figures of this run. Changed only by `engine/state/liquidations.ts`. */
export interface LiquidationState {
  /**
   * Keyed by symbol: the distances of its positions when its reading and the book last agreed on them.
   */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** Keyed by symbol and side: positions that are nearer than the first step. */
  readonly warned: ReadonlySet<string>
  /** Keyed by symbol and step: the reading that found it nearer, until another reading confirms that. */
  readonly awaited: ReadonlyMap<string, AwaitedReading>
  /** Keyed by symbol and side: positions for which it was logged that only our own figure counts. */
  readonly alone: ReadonlySet<string>
  /** Keyed by symbol: the smallest distance of a position in this run. */
  readonly nearest: ReadonlyMap<string, NearestDistance>
}

/**
 * The times of the answers behind a reading, Unix ms: when the position was requested, and when the
 * exchange stated the prices.
 */
export interface AwaitedReading {
  readonly positionAt: number
  readonly tickersAt: number
}

/** The smallest distance of a position to its liquidation. */
export interface NearestDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  /** A share of the mark price. */
  readonly distance: number
  /** Unix ms, our clock, of the reading. */
  readonly at: number
}

/**
 * The distance of a position's mark price to the price at which the exchange would close it. NaN:
 * not known.
 */
export interface LiquidationDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly markPrice: number
  /** Quote coin: our own figure, and the exchange's. */
  readonly ourPrice: number
  readonly statedPrice: number
  /** Shares of the mark price; Infinity if there is no such price. */
  readonly ours: number
  readonly stated: number
  /** The smaller of the known distances; only ours if `trust` is `alone`. */
  readonly nearest: number
  /** The same in typical hourly moves; NaN while fewer than three hours are known. */
  readonly moves: number
  readonly trust: DistanceTrust
  /**
   * Maintenance margin and closing fee over the collateral of the position; at 1 it is liquidated.
   * Our own figure, and the exchange's.
   */
  readonly ratio: number
  readonly statedRatio: number
  /** Never `alone`: a ratio restricts nothing. */
  readonly ratioTrust: DistanceTrust
}

/**
 * The hourly closes of an instrument in this run. Changed only by `engine/state/liquidations.ts`.
 */
export interface HourlyCloses {
  /** Hours since 1970, UTC: the current one. */
  readonly hour: number
  /** The last price of each hour before it, the oldest first; NaN where no price was read. */
  readonly closes: readonly number[]
  /** The median of the moves from hour to hour, as shares; NaN while fewer than three are known. */
  readonly typical: number
}
