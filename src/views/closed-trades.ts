import type { ClosedTradesQuery, ClosedTradesView } from '../control/detail-views.ts'
import type { ClosedTrade } from '../domain/closed-trade.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { AdoptRecord, AssignedRecord } from '../domain/record.ts'
import type { Book } from '../engine/book/book.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import { TradeFold, type TradeEvent } from '../engine/book/trade-fold.ts'
import type { BookedRow } from '../journal/booking.ts'
import type { JournalReader } from '../journal/journal-reader.ts'
import type { RowsCount } from '../journal/tables/booking-table.ts'
import { NO_ROWS, type RowsSum } from '../journal/tables/rows-sum.ts'
import { type ClosePurpose, closePurposeOf } from '../engine/book/bookings.ts'

/** A question for more trades reads all fills again. */
const KEPT_MAX = 500
const KEPT_BEYOND = 1000

type TradeSource = Pick<
  JournalReader,
  'bookings' | 'records' | 'contents' | 'bookedTotal' | 'lastSequence'
>

export function readClosedTrades(
  reader: TradeSource,
  positionMode: PositionMode,
  query: ClosedTradesQuery,
): ClosedTradesView {
  const book = rebuildBook(reader.contents(), positionMode)
  const folding = new JournalFold(book, (trade) => matches(trade, query), query.limit)
  folding.readOn(reader)
  folding.finish()
  return folding.show(book, query)
}

/** Reads only what is new in a journal. */
export class TradeHistory {
  readonly #positionMode: PositionMode
  #folding: JournalFold | undefined

  constructor(positionMode: PositionMode) {
    this.#positionMode = positionMode
  }

  /**
   * The fold goes on while number and sum of all rows prove the part before it unchanged.
   * @throws Failure JOURNAL_CORRUPT
   */
  read(reader: TradeSource, query: ClosedTradesQuery): ClosedTradesView {
    const book = rebuildBook(reader.contents(), this.#positionMode)
    const folding = this.#continue(reader, book) ?? this.#begin(reader, book)
    // A fill that waits for its order may count otherwise next time.
    if (folding.isWaiting) {
      this.#folding = undefined
      folding.finish()
    }
    return folding.knowsAll(query)
      ? folding.show(book, query)
      : readClosedTrades(reader, this.#positionMode, query)
  }

  #continue(reader: TradeSource, book: Book): JournalFold | undefined {
    const folding = this.#folding
    if (!folding?.isOnGridsOf(book)) return undefined
    const before = reader.bookedTotal()
    folding.readOn(reader)
    const isWhole = [before, reader.bookedTotal()].some((total) => isSame(total, folding.sum))
    return isWhole ? folding : undefined
  }

  #begin(reader: TradeSource, book: Book): JournalFold {
    const folding = new JournalFold(book, () => true, KEPT_MAX)
    folding.readOn(reader)
    this.#folding = folding
    return folding
  }
}

class JournalFold {
  readonly #fold: TradeFold
  readonly #grids: string
  readonly #limit: number
  readonly #trades: ClosedTrade[] = []
  readonly #count: RowsCount = { sum: NO_ROWS }
  readonly #purposes = new Map<string, ClosePurpose>()
  #isCut = false
  #readTo = 0
  /** Reading a week of records takes long, so each is read once. */
  #sequence = 0

  constructor(book: Book, isWanted: (trade: ClosedTrade) => boolean, limit: number) {
    this.#grids = JSON.stringify([...book.grids])
    this.#limit = limit
    this.#fold = new TradeFold({
      book,
      purposeOf: (clientOid) => this.#purposes.get(clientOid),
      onClosed: (trade) => {
        if (isWanted(trade)) this.#keep(trade)
      },
    })
  }

  get sum(): RowsSum {
    return this.#count.sum
  }

  get isWaiting(): boolean {
    return this.#fold.isWaiting
  }

  isOnGridsOf(book: Book): boolean {
    return this.#grids === JSON.stringify([...book.grids])
  }

  readOn(reader: TradeSource): void {
    const newest = reader.lastSequence()
    this.#notePurposes(reader)
    for (const event of this.#mergeEvents(reader, newest)) this.#fold.add(event)
    this.#sequence = newest
  }

  finish(): void {
    this.#fold.finish()
  }

  knowsAll(query: ClosedTradesQuery): boolean {
    if (!this.#isCut) return true
    const isAboutAll = query.strategy === undefined && query.symbol === undefined
    return isAboutAll && query.until === undefined && query.limit <= KEPT_MAX
  }

  show(book: Book, query: ClosedTradesQuery): ClosedTradesView {
    const found = this.#trades.filter((trade) => matches(trade, query))
    const trades = query.limit < found.length ? found.slice(found.length - query.limit) : found
    const pairs = new Map(
      trades.map(({ strategyId, symbol }) => [`${strategyId} ${symbol}`, [strategyId, symbol]]),
    )
    const unexplained = [...pairs.values()].filter(
      ([strategyId = '', symbol = '']) => !this.#fold.explains(strategyId, symbol, book.holdings),
    )
    const journal = { run: book.epoch, sequence: this.#sequence }
    return { journal, trades, unexplained: unexplained as [string, string][] }
  }

  #keep(trade: ClosedTrade): void {
    this.#trades.push(trade)
    if (this.#trades.length <= this.#limit + KEPT_BEYOND) return
    this.#trades.splice(0, this.#trades.length - this.#limit)
    this.#isCut = true
  }

  /** Payments come first: a closed position is paid nothing. */
  *#mergeEvents(reader: TradeSource, newest: number): Generator<TradeEvent> {
    const span = { since: this.#readTo === 0 ? 0 : this.#readTo + 1 }
    const sources: readonly Iterator<BookedRow | AdoptRecord | AssignedRecord>[] = [
      reader.bookings('funding', span, this.#count),
      reader.bookings('fill', span, this.#count),
      this.#listMoves(reader, newest),
    ]
    const next = sources.map((source) => source.next())
    for (;;) {
      const times = next.map(({ done, value }) => (done === true ? Infinity : value.at))
      const first = times.indexOf(Math.min(...times))
      const taken = next[first]
      if (taken === undefined || taken.done === true) return
      const event = taken.value
      if (event.kind === 'fill' || event.kind === 'funding') this.#readTo = event.at
      yield event
      next[first] = sources[first]?.next() ?? { done: true, value: undefined }
    }
  }

  *#listMoves(reader: TradeSource, newest: number): Generator<AdoptRecord | AssignedRecord> {
    const query = { kinds: ['adopt', 'assigned'], behind: this.#sequence } as const
    for (const { sequence, record } of reader.records(query)) {
      if (sequence > newest) return
      if (record.kind === 'adopt' || record.kind === 'assigned') yield record
    }
  }

  #notePurposes(reader: TradeSource): void {
    const kinds = ['send'] as const
    for (const containing of ['"purpose":"flatten"', '"exit":"']) {
      for (const { record } of reader.records({ kinds, containing, behind: this.#sequence })) {
        if (record.kind !== 'send') continue
        for (const terms of record.orders) {
          const purpose = closePurposeOf(terms)
          if (purpose !== undefined) this.#purposes.set(terms.clientOid, purpose)
        }
      }
    }
  }
}

function matches({ strategyId, symbol, closedAt }: ClosedTrade, query: ClosedTradesQuery): boolean {
  return (
    strategyId === (query.strategy ?? strategyId) &&
    symbol === (query.symbol ?? symbol) &&
    closedAt >= (query.since ?? 0) &&
    closedAt < (query.until ?? Number.POSITIVE_INFINITY)
  )
}

function isSame(one: RowsSum, other: RowsSum): boolean {
  return one.rows === other.rows && one.sum === other.sum
}
