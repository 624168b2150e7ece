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

/** The id is the one that `market.modifyTrigger` takes. */
export interface ShownExit extends ListedExit {
  readonly holdSide: HoldSide
}

export interface InstrumentMoment {
  readonly instrument: Instrument
  readonly holding: Holding
  /** With the time of its last confirmation; 0: never. */
  readonly accountHolding: Holding
  readonly positionReadAt: number
  readonly orders: readonly Order[]
  /** From its own fills; absent before the first. */
  readonly trades?: OwnTrades | undefined
  readonly money?: Money | undefined
  /** Kept by the exchange, as an order of the strategy has set them; absent: none is listed. */
  readonly exchangeExits?: readonly ShownExit[]
  /** It leaves the strategy's universe. */
  readonly isLeaving?: true
}

/** Parts of the engine's state: never to be changed. */
export interface AccountMoment {
  /** At the beginning, margin coin. */
  readonly capital: Decimal | undefined
  /** As in limits, status and metrics; undefined while a part is not known. */
  readonly equity: number | undefined
  /** Margin coin; NaN: unknown; absent: all of the equity. */
  readonly ownCapital?: number | undefined
  /** Keyed by strategy and symbol. */
  readonly money: ReadonlyMap<string, Money>
  readonly funding: ReadonlyMap<string, Decimal>
  /** Keyed by symbol; absent if not read in this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
  readonly holdings: ReadonlyMap<string, Holding>
  /** Keyed by symbol; absent if nothing is held or measured. */
  readonly distances: ReadonlyMap<string, readonly LiquidationDistance[]>
  /** After midnight UTC. */
  readonly fundingMinutes: readonly number[]
}

/**
 * Unchanged while the strategy decides. Each part has its own time: `tickers.readAt` and each row's
 * `ts`, `positionReadAt`, `fillsReadAt`.
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
  /** Keyed by the names in the strategy file; one never read is absent. */
  readonly feeds: ReadonlyMap<string, FeedReading>
  /** Closed, by symbol and interval (`candleKey`). */
  readonly candles: ReadonlyMap<string, CandleSeries>
  readonly account: AccountMoment
  /** Absent where the tickers are not the whole market's. */
  readonly market?: MarketAggregates
}
