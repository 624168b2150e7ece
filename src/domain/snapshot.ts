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

/** What one strategy is shown of one of its instruments. */
export interface InstrumentMoment {
  readonly instrument: Instrument
  /** What the strategy's own orders have built up, from their fills. */
  readonly holding: Holding
  /** What the whole account holds, and when (Unix ms, our clock) the exchange last confirmed it; 0 never. */
  readonly accountHolding: Holding
  readonly positionReadAt: number
  /** The strategy's orders that are not terminal. */
  readonly orders: readonly Order[]
  /** What its own fills have bought, and made; absent before the first. */
  readonly trades?: OwnTrades | undefined
  readonly money?: Money | undefined
}

/** What the whole account has, as far as the daemon knows: parts that its state is made of, never to be changed. */
export interface AccountMoment {
  /** Margin coin at the beginning, as configured; undefined where nobody says. */
  readonly capital: Decimal | undefined
  /** As limits, status and metrics have it; undefined while a part is not known. */
  readonly equity: number | undefined
  /** By strategy and symbol. */
  readonly money: ReadonlyMap<string, Money>
  /** Received, by symbol. */
  readonly funding: ReadonlyMap<string, Decimal>
  /** By symbol; absent where the position was not read in this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
  /** What the account holds, by symbol. */
  readonly holdings: ReadonlyMap<string, Holding>
  /** By symbol: how far its positions are from a liquidation; absent where nothing is held or nothing was measured yet. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** Minutes after midnight UTC at which funding is paid. */
  readonly fundingMinutes: readonly number[]
}

/**
 * One moment, as one strategy sees it: immutable while it is looked at. Each part carries its own time:
 * `tickers.readAt` and each row's `ts`, `positionReadAt` of each instrument, `fillsReadAt`.
 */
export interface Snapshot {
  /** Counts the daemon's snapshots from 1. */
  readonly sequence: number
  /** Unix ms, our clock. */
  readonly takenAt: number
  /** Unix ms, exchange clock, as we know it. */
  readonly exchangeTime: number
  readonly tickers: TickerTable
  /** Unix ms, our clock: up to here the fills are known; 0 never read. */
  readonly fillsReadAt: number
  readonly instruments: readonly InstrumentMoment[]
  /** By the names that the strategy file gives them; a feed that was never read is absent. */
  readonly feeds: ReadonlyMap<string, FeedReading>
  /** Closed candles, by symbol and interval (`candleKey`). */
  readonly candles: ReadonlyMap<string, CandleSeries>
  readonly account: AccountMoment
}
