import { type DaemonFile } from '../config/schema/daemon-schema.ts'
import { type StrategyFile } from '../config/schema/strategy-schema.ts'
import { type Instrument } from '../domain/instrument.ts'
import { type Holding } from '../domain/position.ts'
import { type TradingState } from '../domain/trading-mode.ts'
import { type DeliveryState } from '../domain/ticker-table.ts'
import { type Exposure } from './exposure.ts'

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
  'foreignFills' | 'losses' | 'instruments' | 'leverageMax' | 'selfTrade' | 'unknownOrdersMax' | 'pace'
>

/** The operator's limits for one strategy on one instrument, each as its setting says; sizes in lots. */
export type StrategyLimits = Readonly<
  Record<Exclude<keyof StrategyFile['risk'], 'losses' | 'pace'>, number>
> & {
  readonly ordersPerMinute?: number
  readonly identicalPerMinute?: number
  readonly rejectionsPerMinute?: number
}

/** The market as risk looks at it. Floats, quote coin; NaN where there is none. */
export interface RiskMarket {
  readonly bid: number
  readonly ask: number
  readonly last: number
  /** Age in ms of the older of the answer and the row in it. */
  readonly ageMs: number
  readonly deliveryState: DeliveryState | undefined
}

/** Everything that approving one order looks at. The exposures grow as orders are approved. */
export interface RiskContext {
  readonly now: number
  readonly instrument: Instrument
  readonly market: RiskMarket
  /** How long ago the fills, or the instrument's position where that is longer, were asked for that are known, ms. */
  readonly accountAgeMs: number
  readonly trading: TradingState
  readonly account: AccountLimits
  readonly strategy: StrategyLimits
  /** The strategy's own, on this instrument. */
  readonly holding: Holding
  readonly ownExposure: Exposure
  /** The account's, on this instrument. */
  readonly accountExposure: Exposure
  /** Worst case of all other instruments of the account, quote coin. */
  readonly otherNotional: number
  /** Of the account, in the margin coin; undefined while it is not known. */
  readonly equity: number | undefined
  /** The dearest buy and the cheapest sell of ours that rest, in ticks; infinitely low, and high, where there is none. */
  readonly resting: { readonly buyTicks: number; readonly sellTicks: number }
  /** Orders that have left within a minute, with those that are approved beside this one. */
  readonly pace: { readonly strategy: () => number; readonly account: () => number }
  /** Open orders of the account on other instruments. */
  readonly otherOpenOrders: number
}
