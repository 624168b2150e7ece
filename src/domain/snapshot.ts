import type { Decimal } from '../lib/decimal.ts'
import type { CandleSeries } from './candles.ts'
import type { FeedReading } from './feed.ts'
import type { Money } from './fill-money.ts'
import type { Instrument } from './instrument.ts'
import type { LiquidationDistance } from './liquidation.ts'
import type { Order } from './order.ts'
import type { OwnTrades, PositionMark } from './own-trades.ts'
import type { Holding } from './position.ts'
import type { TickerTable } from './ticker-table.ts'

/** One instrument as it is shown to one strategy. */
export interface InstrumentMoment {
  readonly instrument: Instrument
  /** The position of the strategy's own fills. */
  readonly holding: Holding
  /**
   * The position of the whole account, and when (Unix ms, our clock) the exchange last confirmed
   * it; 0 never.
   */
  readonly accountHolding: Holding
  readonly positionReadAt: number
  /** The strategy's orders that are not terminal. */
  readonly orders: readonly Order[]
  /** The trades and money of its own fills; absent before the first. */
  readonly trades?: OwnTrades | undefined
  readonly money?: Money | undefined
}

/**
 * The state of the whole account, as far as it is known. These are parts of the engine's state and
 * must never be changed.
 */
export interface AccountMoment {
  /** Margin coin at the beginning, as configured; undefined if not configured. */
  readonly capital: Decimal | undefined
  /** The equity of limits, status and metrics; undefined while a part is not known. */
  readonly equity: number | undefined
  /** Keyed by strategy and symbol. */
  readonly money: ReadonlyMap<string, Money>
  /** Funding received, by symbol. */
  readonly funding: ReadonlyMap<string, Decimal>
  /** Keyed by symbol; absent if the position was not read in this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
  /** The positions of the account, by symbol. */
  readonly holdings: ReadonlyMap<string, Holding>
  /**
   * Keyed by symbol: distances of its positions to a liquidation; absent if nothing is held or nothing
   * was measured yet.
   */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** Minutes after midnight UTC at which funding is paid. */
  readonly fundingMinutes: readonly number[]
}

/**
 * One moment, as one strategy sees it. It does not change while the strategy decides. Each part
 * carries its own time: `tickers.readAt` and each row's `ts`, `positionReadAt` of each instrument,
 * `fillsReadAt`.
 */
export interface Snapshot {
  /** Counts the daemon's snapshots from 1. */
  readonly sequence: number
  /** Unix ms, our clock. */
  readonly takenAt: number
  /** Unix ms, exchange clock, as we know it. */
  readonly exchangeTime: number
  readonly tickers: TickerTable
  /** Unix ms, our clock: the fills are known up to here; 0 never read. */
  readonly fillsReadAt: number
  readonly instruments: readonly InstrumentMoment[]
  /** Keyed by the names in the strategy file; a feed that was never read is absent. */
  readonly feeds: ReadonlyMap<string, FeedReading>
  /** Closed candles, by symbol and interval (`candleKey`). */
  readonly candles: ReadonlyMap<string, CandleSeries>
  readonly account: AccountMoment
}
