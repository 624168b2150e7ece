import type { Decimal } from '../lib/decimal.ts'
import type { CandleSeries } from './candles.ts'
import type { FeedReading } from './feed.ts'
import type { Money } from './fill-money.ts'
import type { Instrument } from './instrument.ts'
import type { LiquidationDistance } from './liquidation.ts'
import type { Order } from './order.ts'
import type { OwnTrades, PositionMark } from './own-trades.ts'
import type { Holding, HoldSide, ListedExit } from './position.ts'
import type { MarketAggregates, TickerTable } from './ticker-table.ts'

/** `market.modifyTrigger` takes its id. */
export interface MomentExit extends ListedExit {
  readonly holdSide: HoldSide
}

export interface InstrumentMoment {
  readonly instrument: Instrument
  readonly holding: Holding
  readonly accountHolding: Holding
  /** When a reading last confirmed the position; 0: never. */
  readonly positionReadAt: number
  readonly orders: readonly Order[]
  /** From the strategy's own fills; absent before the first. */
  readonly trades?: OwnTrades | undefined
  readonly money?: Money | undefined
  readonly exchangeExits?: readonly MomentExit[]
  readonly isLeaving?: true
}

/** Parts of the engine's state, which must not be changed. */
export interface AccountMoment {
  /** The initial capital with deposits, margin coin. */
  readonly capital: Decimal | undefined
  /** Undefined while a part is not known. */
  readonly equity: number | undefined
  /** The strategy's, margin coin; NaN: unknown. Absent: all of the equity. */
  readonly ownCapital?: number | undefined
  /** Keyed by strategy and symbol. */
  readonly money: ReadonlyMap<string, Money>
  readonly funding: ReadonlyMap<string, Decimal>
  /** Keyed by symbol, from readings of this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
  readonly holdings: ReadonlyMap<string, Holding>
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  readonly fundingMinutes: readonly number[]
}

/** Each part has its own time: `tickers.readAt`, each row's `ts`, `positionReadAt`, `fillsReadAt`. */
export interface Snapshot {
  readonly sequence: number
  readonly takenAt: number
  /** Exchange clock, as we know it. */
  readonly exchangeTime: number
  readonly tickers: TickerTable
  /** Fills are known up to here; 0: never read. */
  readonly fillsReadAt: number
  readonly instruments: readonly InstrumentMoment[]
  /** Keyed by the strategy's own names. */
  readonly feeds: ReadonlyMap<string, FeedReading>
  /** Keyed by symbol and interval (`candleKey`). */
  readonly candles: ReadonlyMap<string, CandleSeries>
  readonly account: AccountMoment
  /** Absent where the tickers are not the whole market's. */
  readonly market?: MarketAggregates
}
