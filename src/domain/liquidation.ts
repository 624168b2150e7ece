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
 * not · `ours`, `stated`: there is only one · `none`: neither.
 */
export type DistanceTrust = 'agreed' | 'disputed' | 'ours' | 'stated' | 'none'

/** What is known of liquidations in this run. Changed by `engine/state/liquidations.ts`. */
export interface LiquidationState {
  /** By symbol: the distances of its positions when its reading and the book last agreed on them. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** By symbol and side: those that are nearer than the first step. */
  readonly warned: ReadonlySet<string>
  /** By symbol and step: the reading (Unix ms, our clock) by which it is nearer, until another says so too. */
  readonly awaited: ReadonlyMap<string, number>
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
  /** The nearer of those that are known. */
  readonly nearest: number
  readonly trust: DistanceTrust
}
