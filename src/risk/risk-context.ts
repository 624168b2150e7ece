import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { StrategyFile } from '../config/schema/strategy-schema.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { Holding } from '../domain/position.ts'
import type { TradingState } from '../domain/trading-mode.ts'
import type { DeliveryState } from '../domain/ticker-table.ts'
import type { Exposure } from './exposure.ts'
import type { DistanceBasis } from './liquidation.ts'
import type { WorstCaseBasis } from './worst-case.ts'

type AccountRisk = DaemonFile['risk']

/** Keys of `risk` that are a number for each order, or for all of them. */
type LimitName = Exclude<
  keyof AccountRisk,
  | 'foreignFills'
  | 'losses'
  | 'liquidation'
  | 'survives'
  | 'instruments'
  | 'selfTrade'
  | 'pace'
  // Tolerances of comparisons are no limits of orders.
  | 'disputeToleranceRatio'
  | 'disputeToleranceMin'
  | 'disputeMsMax'
  | 'indexBandRatio'
>

/**
 * Limits that are off where the configuration does not name them; the age has a default instead.
 */
export type OptionalLimit = {
  [Name in LimitName]: undefined extends AccountRisk[Name] ? Name : never
}[Exclude<LimitName, 'accountAgeMaxMs'>]

/** Decimals of the settings as floats. */
export type AccountLimits = {
  readonly [Name in Exclude<LimitName, OptionalLimit>]: number
} & {
  readonly [Name in OptionalLimit | keyof AccountRisk['pace']]?: number
} & { readonly selfTrade?: 'allow' | 'deny' }

/** Sizes of the settings in lots. */
export type StrategyLimits = Readonly<
  Record<
    Exclude<
      keyof StrategyFile['risk'],
      'losses' | 'pace' | 'positionNotionalMax' | 'orderNotionalMax'
    >,
    number
  >
> & {
  /** Quote coin. */
  readonly positionNotionalMax?: number
  readonly orderNotionalMax?: number
  readonly ordersPerMinute?: number
  readonly identicalPerMinute?: number
  readonly rejectionsPerMinute?: number
}

/** Floats in the quote coin; NaN for a missing value. */
export interface RiskMarket {
  readonly bid: number
  readonly ask: number
  readonly last: number
  readonly ageMs: number
  readonly deliveryState: DeliveryState | undefined
}

/** An approved order is added here, and so counts for the next one of the batch. */
export interface SharedContext {
  readonly now: number
  readonly instrument: Instrument
  readonly market: RiskMarket
  /** Age of the older of fills and position. */
  readonly accountAgeMs: number
  readonly account: AccountLimits
  readonly accountExposure: Exposure
  readonly accountPace: Pace
  /** Prices of our best resting buy and sell; -Infinity and Infinity without one. */
  readonly bestResting: { buyTicks: number; sellTicks: number }
  readonly unowned: readonly string[]
  readonly isConfirmed: boolean
  /** All other instruments; the notional is in the quote coin, at the worst. */
  readonly others: { readonly notional: number; readonly openOrders: number }
  /** Margin coin; undefined while it is not known, and where no limit asks for it. */
  readonly equity: number | undefined
  /** `risk.liquidation.reduce` */
  readonly distanceMin: number | undefined
  /** Undefined while a part is not known. */
  readonly distanceFrom: DistanceBasis | undefined
  /** `risk.survives` */
  readonly worstCase: WorstCaseBasis | undefined
}

/** Orders within a minute, if they are limited, with those approved for this batch. */
interface Pace {
  orders: number
}

export interface RiskContext extends SharedContext {
  readonly trading: TradingState
  readonly entryPause: string | undefined
  readonly strategy: StrategyLimits
  readonly held: Holding
  /**
   * The part of `held` that the account holds or other strategies account for: only this may be
   * reduced.
   */
  readonly holding: Holding
  readonly ownExposure: Exposure
  readonly ownPace: Pace
  /** Margin coin; `max` is NaN while the equity is not known. */
  readonly capital: { readonly max: number; readonly usedBeside: number } | undefined
}
