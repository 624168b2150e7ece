import type { CandleDetail } from '../control/detail-views.ts'
import type { ClosedTrade } from '../domain/closed-trade.ts'
import type { JournalPlace } from '../domain/journal-place.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { BookedFill } from '../journal/booking.ts'
import type { JournalReader } from '../journal/journal-reader.ts'
import { createGrid, floatOnGrid, type Grid } from '../lib/grid.ts'

const FILLS_MAX = 2000
const STOPS_MAX = 10
const MARGIN = 0.15

export interface TradeFill {
  readonly tradeId: string
  readonly orderId: string
  readonly clientOid: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly price: number
  readonly isEntry: boolean
}

/** Prices are those that a daemon still keeps. */
export interface TradeCourse {
  readonly trade: ClosedTrade
  readonly journal: JournalPlace
  readonly fills: readonly TradeFill[]
  /** Prices of the stops that orders carried to the exchange, one for each change. */
  readonly stops: readonly number[]
  /** Oldest first; empty if no daemon runs, or if it keeps none of that time. */
  readonly prices: readonly { readonly at: number; readonly price: number }[]
}

interface TradeCourseOptions {
  readonly trade: ClosedTrade
  readonly positionMode: PositionMode
  readonly tick: string | undefined
}

/** @throws Failure JOURNAL_CORRUPT */
export function readTradeCourse(
  reader: Pick<JournalReader, 'bookings' | 'records'>,
  { trade, positionMode, tick }: TradeCourseOptions,
): Omit<TradeCourse, 'prices' | 'journal'> {
  const { openedAt, closedAt, symbol, strategyId, side } = trade
  const isNet = positionMode === 'one_way_mode'
  const fills: TradeFill[] = []
  const clientOids = new Set<string>()
  const span = { since: openedAt, until: closedAt + 1 }
  for (const fill of reader.bookings('fill', span) as Iterable<BookedFill>) {
    if (fill.symbol !== symbol || fill.strategyId !== strategyId) continue
    const isOfSide = (fill.side === 'buy') === (side === 'long')
    if (!isNet && !isOfSide) continue
    clientOids.add(fill.clientOid)
    const isEntry = isNet ? isOfSide : fill.tradeSide === 'open'
    if (fills.length >= FILLS_MAX) continue
    const { tradeId, orderId, clientOid, at, price } = fill
    fills.push({ tradeId, orderId, clientOid, at, price: Number(price), isEntry })
  }
  const stops = tick === undefined ? [] : readStops(reader, clientOids, createGrid(tick))
  return { trade, fills, stops }
}

function readStops(
  reader: Pick<JournalReader, 'records'>,
  clientOids: ReadonlySet<string>,
  grid: Grid,
): readonly number[] {
  const ticks = new Set<number>()
  for (const { record } of reader.records({ kinds: ['send'], containing: '"stopLossTicks":' })) {
    if (record.kind !== 'send') continue
    for (const { clientOid, stopLossTicks } of record.orders)
      if (stopLossTicks !== undefined && clientOids.has(clientOid)) ticks.add(stopLossTicks)
  }
  return [...ticks].slice(0, STOPS_MAX).map((steps) => floatOnGrid(grid, steps))
}

/** Takes the finest candles that reach back to the beginning of the trade, else the coarsest. */
export function pricesOf(
  { openedAt, closedAt }: ClosedTrade,
  candles: readonly (readonly CandleDetail[])[],
): TradeCourse['prices'] {
  const reaching = candles.find(([first]) => first !== undefined && first.at <= openedAt)
  const chosen = reaching ?? candles.findLast((some) => some.length > 0) ?? []
  const stepMs = Math.max(0, (chosen[1]?.at ?? 0) - (chosen[0]?.at ?? 0))
  const margin = Math.max(stepMs, (closedAt - openedAt) * MARGIN)
  return chosen
    .filter(({ at }) => at >= openedAt - margin && at <= closedAt + margin)
    .map(({ at, close }) => ({ at, price: close }))
}
