import { type Instrument } from '../domain/instrument.ts'
import { type Holding } from '../domain/position.ts'
import { type TradingState } from '../domain/trading-mode.ts'
import { type DeliveryState } from '../domain/ticker-table.ts'
import { type Exposure } from './exposure.ts'

/** The operator's limits for the account. Ratios are fractions: 0.01 is one per cent. */
export interface AccountLimits {
  readonly dataAgeMaxMs: number
  readonly priceCollarRatio: number
  /** Orders that may be open at once, over all instruments. */
  readonly openOrdersMax: number
  /** Quote coin, float. */
  readonly orderNotionalMax: number
  readonly grossNotionalMax: number
}

/** The operator's limits for one strategy on one instrument, in lots. */
export interface StrategyLimits {
  readonly positionLotsMax: number
  readonly orderLotsMax: number
  readonly openOrdersMax: number
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
  /** Open orders of the account on other instruments. */
  readonly otherOpenOrders: number
}
