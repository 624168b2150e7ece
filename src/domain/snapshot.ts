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
  /** 0: never confirmed. */
  readonly accountHolding: Holding
  readonly positionReadAt: number
  readonly orders: readonly Order[]
  /** From its own fills; absent before the first. */
  readonly trades?: OwnTrades | undefined
  readonly money?: Money | undefined
  /** Absent: none is listed. */
  readonly exchangeExits?: readonly MomentExit[]
  readonly isLeaving?: true
}

/** They are parts of the engine's state, never to be changed. */
export interface AccountMoment {
  /** The initial one, margin coin. */
  readonly capital: Decimal | undefined
  /** Undefined while a part is not known. */
  readonly equity: number | undefined
  /** Margin coin; NaN: unknown; absent: all of the equity. */
  readonly ownCapital?: number | undefined
  /** Keyed by strategy and symbol. */
  readonly money: ReadonlyMap<string, Money>
  readonly funding: ReadonlyMap<string, Decimal>
  /** Absent if not read in this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
  readonly holdings: ReadonlyMap<string, Holding>
  /** Absent if nothing is held or measured. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** After midnight UTC. */
  readonly fundingMinutes: readonly number[]
}

/**
 * Each part has its own time: `tickers.readAt` and each row's `ts`, `positionReadAt`,
 * `fillsReadAt`.
 */
export interface Snapshot {
  readonly sequence: number
  readonly takenAt: number
  /** Exchange clock, as we know it. */
  readonly exchangeTime: number
  readonly tickers: TickerTable
  /** Fills are known up to here; 0: never read. */
  readonly fillsReadAt: number
  readonly instruments: readonly InstrumentMoment[]
  /** Absent if never read. */
  readonly feeds: ReadonlyMap<string, FeedReading>
  /** Keyed by symbol and interval (`candleKey`). */
  readonly candles: ReadonlyMap<string, CandleSeries>
  readonly account: AccountMoment
  /** Absent where the tickers are not the whole market's. */
  readonly market?: MarketAggregates
}
