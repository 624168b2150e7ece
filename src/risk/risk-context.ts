import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { StrategyFile } from '../config/schema/strategy-schema.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { Holding } from '../domain/position.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { TradingState } from '../domain/trading-mode.ts'
import type { DeliveryState } from '../domain/ticker-table.ts'
import type { Exposure } from './exposure.ts'
import type { WorstCaseBasis } from './worst-case-orders.ts'

/** The operator's limits for the account, each as its setting says; decimals as floats. */
export type AccountLimits = Readonly<Record<RequiredLimit, number>> & {
  readonly leverageMax?: number
  readonly selfTrade?: 'allow' | 'deny'
  readonly unknownOrdersMax?: number
  readonly ordersPerMinute?: number
  readonly identicalPerMinute?: number
  readonly rateLimitedPerMinute?: number
}

type RequiredLimit = Exclude<
  keyof DaemonFile['risk'],
  | 'foreignFills'
  | 'losses'
  | 'liquidation'
  | 'survives'
  | 'instruments'
  | 'leverageMax'
  | 'selfTrade'
  | 'unknownOrdersMax'
  | 'pace'
  // Tolerances of comparisons are no limits of orders.
  | 'disputeToleranceRatio'
  | 'disputeToleranceMin'
  | 'disputeMsMax'
  | 'indexBandRatio'
>

/** The operator's limits for one strategy on one instrument, each as its setting says; sizes in lots. */
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
  /** The margin of all that it holds and has open on its other instruments. */
  readonly usedBeside: () => number
}

/** The market as the risk checks see it: floats in the quote coin; NaN for a missing value. */
export interface RiskMarket {
  readonly bid: number
  readonly ask: number
  readonly last: number
  /** Age in ms of the older of the answer and the row in it. */
  readonly ageMs: number
  readonly deliveryState: DeliveryState | undefined
}

/** Everything that the risk checks of an order need. The exposures grow as orders are approved. */
export interface RiskContext {
  readonly now: number
  readonly instrument: Instrument
  readonly market: RiskMarket
  /** The age of the account's fills or of the instrument's position, whichever is older, ms. */
  readonly accountAgeMs: number
  readonly trading: TradingState
  /** Why exits let the strategy add nothing; undefined: they do not mind. */
  readonly entryPause: string | undefined
  readonly account: AccountLimits
  readonly strategy: StrategyLimits
  /** The strategy's position by its fills. */
  readonly held: Holding
  /** The part of it that the account and other strategies account for: this may be reduced. */
  readonly holding: Holding
  /** The strategy's own exposure on this instrument. */
  readonly ownExposure: Exposure
  /** The account's exposure on this instrument. */
  readonly accountExposure: Exposure
  /** The orderIds of fills on this instrument that no known order explains. */
  readonly unowned: readonly string[]
  /** Whether the position was read after the last fill, and agrees with the fills. */
  readonly isConfirmed: boolean
  /** The largest possible notional of all other instruments of the account, quote coin. */
  readonly otherNotional: number
  /** The equity of the account in the margin coin; undefined while it is not known. */
  readonly equity: number | undefined
  /**
   * The distance of the position to a liquidation after the order, as a share of the price; NaN:
   * not known.
   */
  readonly distanceAfter: (intent: OrderIntent) => number
  /** The distance below which no order opens (`risk.liquidation.reduce`); undefined: no minimum. */
  readonly distanceMin: number | undefined
  /** The part that the strategy may use, in the margin coin; undefined: no share of its own. */
  readonly capital: StrategyCapital | undefined
  /** The basis for the moves that the account must survive (`risk.survives`); undefined: none. */
  readonly worstCase: WorstCaseBasis | undefined
  /** Our highest resting buy and lowest resting sell, in ticks; without one -Infinity and Infinity. */
  readonly resting: { readonly buyTicks: number; readonly sellTicks: number }
  /** How many orders have left within a minute, including those that are approved for the same batch. */
  readonly pace: { readonly strategy: () => number; readonly account: () => number }
  /** Open orders of the account on other instruments. */
  readonly otherOpenOrders: number
}
