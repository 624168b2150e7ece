import type { JournalRecord } from '../domain/record.ts'
import type { Book } from '../engine/book/book.ts'
import { type ClosePurpose, closePurposeOf, TradeFold } from '../engine/book/trade-fold.ts'
import type { Booking } from '../journal/booking.ts'
import { type TradesReport, TradeTable } from '../report/collect/trade-table.ts'

/** As the daemon's book counts them. */
export class TradeLog {
  readonly #book: () => Book
  readonly #table: TradeTable
  readonly #purposes = new Map<string, ClosePurpose>()
  /** Begins with the first record that may move something: before, the book knows no instrument. */
  #fold: TradeFold | undefined

  constructor(options: { readonly book: () => Book; readonly directory: string | undefined }) {
    this.#book = options.book
    this.#table = new TradeTable(options.directory)
  }

  /** After it was applied, with what it has booked. */
  take(record: JournalRecord, bookings: readonly Booking[]): void {
    if (record.kind === 'send')
      for (const terms of record.orders) {
        const purpose = closePurposeOf(terms)
        if (purpose !== undefined) this.#purposes.set(terms.clientOid, purpose)
      }
    const isMove = record.kind === 'adopt' || record.kind === 'assigned'
    if (bookings.length === 0 && !isMove) return
    const fold = (this.#fold ??= this.#begin())
    for (const booking of bookings) fold.add(booking)
    if (isMove) fold.add(record)
  }

  finish(): TradesReport {
    this.#fold?.finish()
    return this.#table.finish()
  }

  #begin(): TradeFold {
    return new TradeFold({
      book: this.#book(),
      purposeOf: (clientOid) => this.#purposes.get(clientOid),
      onClosed: (trade) => this.#table.add(trade),
    })
  }
}
