import type { ClosedTrade } from '../domain/closed-trade.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { AdoptRecord, AssignedRecord } from '../domain/record.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import { TradeFold, type TradeEvent } from '../engine/book/trade-fold.ts'
import type { BookedRow } from '../journal/booking.ts'
import type { JournalReader } from '../journal/journal-reader.ts'

/** Which closed trades to show. An absent property restricts nothing. */
export interface TradesQuery {
  readonly strategy?: string | undefined
  readonly symbol?: string | undefined
  /** Unix ms, of the end of a trade: `since` is included, `until` is not. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only the last ones. */
  readonly limit: number
}

export interface ClosedTrades {
  /** The oldest first, by their ends. */
  readonly trades: readonly ClosedTrade[]
  /** Strategy and symbol of which the journal's fills do not explain what is held: these trades may be wrong. */
  readonly unexplained: readonly (readonly [strategyId: string, symbol: string])[]
}

/** So many more than are wanted are kept before the oldest are dropped. */
const KEPT_BEYOND = 1000

type Readable = Pick<JournalReader, 'bookings' | 'records' | 'contents'>

/**
 * The closed trades of all runs, folded from all fills of the journal. Only those that are wanted are kept in memory.
 * @throws Failure JOURNAL_CORRUPT
 */
export function readClosedTrades(
  reader: Readable,
  positionMode: PositionMode,
  query: TradesQuery,
): ClosedTrades {
  const { strategy, symbol, since = 0, until = Number.POSITIVE_INFINITY, limit } = query
  const trades: ClosedTrade[] = []
  const flattens = listFlattenOrders(reader)
  const pairs = new Map<string, readonly [string, string]>()
  const fold = new TradeFold({
    book: rebuildBook(reader.contents(), positionMode),
    isFlatten: (clientOid) => flattens.has(clientOid),
    onClosed: (trade) => {
      if (trade.strategyId !== (strategy ?? trade.strategyId)) return
      if (trade.symbol !== (symbol ?? trade.symbol)) return
      if (trade.closedAt < since || trade.closedAt >= until) return
      pairs.set(`${trade.strategyId} ${trade.symbol}`, [trade.strategyId, trade.symbol])
      trades.push(trade)
      if (trades.length > limit + KEPT_BEYOND) trades.splice(0, trades.length - limit)
    },
  })
  for (const event of mergeEvents(reader)) fold.add(event)
  fold.finish()
  return {
    trades: limit < trades.length ? trades.slice(trades.length - limit) : trades,
    unexplained: [...pairs.values()].filter((pair) => !fold.explains(...pair)),
  }
}

/** Orders that closed something by a flatten, as far as the journal still has their records. */
function listFlattenOrders(reader: Readable): ReadonlySet<string> {
  const found = new Set<string>()
  const query = { kinds: ['send'], containing: '"purpose":"flatten"' } as const
  for (const { record } of reader.records(query)) {
    if (record.kind !== 'send') continue
    for (const { clientOid, purpose } of record.orders)
      if (purpose === 'flatten') found.add(clientOid)
  }
  return found
}

type DatedEvent = BookedRow | AdoptRecord | AssignedRecord

/** In the order of time; of one instant, payments first, since a position that is closed is paid nothing. */
function* mergeEvents(reader: Readable): Generator<TradeEvent> {
  const sources: readonly Iterator<DatedEvent>[] = [
    reader.bookings('funding')[Symbol.iterator](),
    reader.bookings('fill')[Symbol.iterator](),
    listMoves(reader)[Symbol.iterator](),
  ]
  const next = sources.map((source) => source.next())
  for (;;) {
    let first: number | undefined
    let firstAt = Number.POSITIVE_INFINITY
    for (const [index, { done, value }] of next.entries()) {
      if (done === true || value.at >= firstAt) continue
      first = index
      firstAt = value.at
    }
    const taken = first === undefined ? undefined : next[first]
    if (first === undefined || taken === undefined || taken.done === true) return
    yield taken.value
    next[first] = sources[first]?.next() ?? { done: true, value: undefined }
  }
}

/** Records that move lots without a fill, as far as the journal still has them. */
function* listMoves(reader: Readable): Generator<AdoptRecord | AssignedRecord> {
  for (const { record } of reader.records({ kinds: ['adopt', 'assigned'] }))
    if (record.kind === 'adopt' || record.kind === 'assigned') yield record
}
