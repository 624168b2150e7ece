import type { WitnessTimes } from './loss-limits.ts'
import type { HoldSide } from './position.ts'

export const LIQUIDATION_STEPS = ['warn', 'reduce', 'flatten'] as const
export type LiquidationStep = (typeof LIQUIDATION_STEPS)[number]
export type LiquidationSteps = Readonly<Record<LiquidationStep, number>>

export interface MaintenanceTier {
  readonly notionalMax: number
  readonly rate: number
}

export interface MaintenanceRules {
  /** The end of the last tier is the largest position allowed; beyond it the last rate counts. */
  readonly tiers: readonly MaintenanceTier[]
  readonly takerFeeRate: number
}

/**
 * - `agreed`: our figure and the exchange's are close
 * - `disputed`: they are not
 * - `alone`: they have not been for so long that only ours counts
 * - `ours`, `stated`: only one is known
 * - `none`: neither is
 */
export const DISTANCE_TRUSTS = ['agreed', 'disputed', 'alone', 'ours', 'stated', 'none'] as const
export type DistanceTrust = (typeof DISTANCE_TRUSTS)[number]

/** After a longer dispute our figure counts alone: an alerted person can have looked by then. */
export const LIQUIDATION_DISPUTE_MS = 600_000

export interface LiquidationState {
  /** Keyed by symbol, measured when reading and book last agreed on the positions. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  readonly warned: ReadonlySet<string>
  /** Keyed by symbol and step. */
  readonly awaited: ReadonlyMap<string, WitnessTimes>
  /** Symbols and sides for which it was logged that only our own figure counts. */
  readonly alone: ReadonlySet<string>
  /** Keyed by symbol. */
  readonly nearest: ReadonlyMap<string, NearestDistance>
}

export interface NearestDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly distance: number
  readonly at: number
}

/** NaN: not known. */
export interface LiquidationDistance {
  readonly symbol: string
  readonly holdSide: HoldSide
  /** The exchange's, or ours if that is impossible. `stated` is measured from it. */
  readonly markPrice: number
  /** The last price, held inside bid and ask. `ours` is measured from it. */
  readonly ownPrice: number
  readonly ourPrice: number
  readonly statedPrice: number
  /** Shares of the price; Infinity without a liquidation price. */
  readonly ours: number
  readonly stated: number
  /** The smaller of both, unless ours counts alone. */
  readonly nearest: number
  readonly moves: number
  readonly trust: DistanceTrust
  /** Maintenance margin and closing fee over the collateral, by our count; at 1: liquidation. */
  readonly ratio: number
  readonly statedRatio: number
  /** Never `alone`: a ratio restricts nothing. */
  readonly ratioTrust: DistanceTrust
}

export interface HourlyCloses {
  readonly hour: number
  /** The oldest first; NaN where none was read. */
  readonly closes: readonly number[]
  /** The median of hourly moves, as a share; NaN with fewer than three. */
  readonly typical: number
}
