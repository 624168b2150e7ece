import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { StrategyFile } from '../config/schema/strategy-schema.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { Holding } from '../domain/position.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { TradingState } from '../domain/trading-mode.ts'
import type { DeliveryState } from '../domain/ticker-table.ts'
import type { Exposure } from './exposure.ts'
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

/** Off where the configuration does not name them. The age has a default instead. */
export type OptionalLimit = {
  [Name in LimitName]: undefined extends AccountRisk[Name] ? Name : never
}[Exclude<LimitName, 'accountAgeMaxMs'>]

/** As the settings say; decimals as floats. */
export type AccountLimits = {
  readonly [Name in Exclude<LimitName, OptionalLimit>]: number
} & {
  readonly [Name in OptionalLimit | keyof AccountRisk['pace']]?: number
} & { readonly selfTrade?: 'allow' | 'deny' }

/** As the settings say; sizes in lots. */
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

/** Worked out by the last checks only. */
export interface StrategyCapital {
  /** NaN while the equity is not known. */
  readonly max: () => number
  /** Margin of all held and open on its other instruments. */
  readonly usedBeside: () => number
}

/** Floats in the quote coin; NaN for a missing value. */
export interface RiskMarket {
  readonly bid: number
  readonly ask: number
  readonly last: number
  readonly ageMs: number
  readonly deliveryState: DeliveryState | undefined
}

/** Exposures grow as orders are approved. */
export interface RiskContext {
  readonly now: number
  readonly instrument: Instrument
  readonly market: RiskMarket
  /** The older of fills and position. */
  readonly accountAgeMs: number
  readonly trading: TradingState
  /** Why exits let nothing be added. */
  readonly entryPause: string | undefined
  readonly account: AccountLimits
  readonly strategy: StrategyLimits
  /** The position by the strategy's fills. */
  readonly held: Holding
  /** The part that account and other strategies account for: this may be reduced. */
  readonly holding: Holding
  readonly ownExposure: Exposure
  readonly accountExposure: Exposure
  /** OrderIds of fills that no known order explains. */
  readonly unowned: readonly string[]
  readonly isConfirmed: boolean
  /** Largest possible notional of all other instruments, quote coin. */
  readonly otherNotional: number
  /** Margin coin; undefined: not known. */
  readonly equity: number | undefined
  /** After the order, share of the price; NaN: not known. */
  readonly distanceAfter: (intent: OrderIntent) => number
  /** `risk.liquidation.reduce` */
  readonly distanceMin: number | undefined
  /** Margin coin; undefined: the strategy has no `capital`. */
  readonly capital: StrategyCapital | undefined
  /** `risk.survives` */
  readonly worstCase: WorstCaseBasis | undefined
  /** In ticks; -Infinity and Infinity without an order. */
  readonly resting: { readonly buyTicks: number; readonly sellTicks: number }
  /** Orders within a minute, with those approved for the batch. */
  readonly pace: { readonly strategy: () => number; readonly account: () => number }
  readonly otherOpenOrders: number
}
