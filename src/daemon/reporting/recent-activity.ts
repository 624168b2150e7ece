import { type Fill } from '../../domain/fill.ts'
import { type JournalRecord } from '../../domain/record.ts'
import { type Money } from '../../domain/snapshot.ts'
import { type Book, NO_MONEY, pairKey } from '../../engine/book/book.ts'
import { type BookedFill, type BookedRow } from '../../journal/booking.ts'
import { decimal } from '../../lib/decimal.ts'
import { startOfDay } from '../../lib/start-of-day.ts'

/** Of a run: what a screen shows. Older ones are in the journal. */
const FILLS_MAX = 500
/** A day that is over is noticed so late at most, ms: time zones are asked for seldom. */
const DAY_LOOKED_AT_EVERY_MS = 1000

/** A fill, and whose order made it; empty where it was nobody's. */
export interface RecentFill {
  readonly fill: Fill
  readonly strategyId: string
  readonly clientOid: string
}

export interface RecentActivityOptions {
  /** Of the day. */
  readonly timeZone: string
  /** Unix ms, our clock. */
  readonly now: () => number
  /** What the journal has booked since an instant. */
  readonly booked: (since: number) => Iterable<BookedRow>
}

/** The last fills, and what those of today have brought and cost. */
export class RecentActivity {
  readonly #options: RecentActivityOptions
  readonly #fills: RecentFill[] = []
  readonly #today = new Map<string, Money>()
  #dayFrom: number
  #lookedAt: number

  constructor(options: RecentActivityOptions) {
    this.#options = options
    this.#lookedAt = options.now()
    this.#dayFrom = startOfDay(this.#lookedAt, options.timeZone)
    for (const row of options.booked(this.#dayFrom)) if (row.kind === 'fill') this.#addBooked(row)
  }

  /** The newest first. */
  fills(limit: number): readonly RecentFill[] {
    return this.#fills.slice(-limit).reverse()
  }

  /** Unix ms: since when {@link today} counts. */
  get dayFrom(): number {
    this.#rollDay()
    return this.#dayFrom
  }

  /** By strategy and symbol, as in the book. */
  get today(): ReadonlyMap<string, Money> {
    this.#rollDay()
    return this.#today
  }

  /** A record that was just applied to the book. */
  observe(record: JournalRecord, book: Book): void {
    if (record.kind !== 'fills') return
    this.#rollDay()
    for (const fill of record.fills) {
      const clientOid = book.byOrderId.get(fill.orderId) ?? ''
      const strategyId = (clientOid !== '' && book.orders.get(clientOid)?.terms.strategyId) || ''
      this.#fills.push({ fill, strategyId, clientOid })
      if (fill.filledAt >= this.#dayFrom) this.#add(pairKey(strategyId, fill.symbol), fill)
    }
    if (this.#fills.length > 2 * FILLS_MAX) this.#fills.splice(0, this.#fills.length - FILLS_MAX)
  }

  #addBooked(fill: BookedFill): void {
    this.#add(pairKey(fill.strategyId, fill.symbol), fill)
  }

  #add(pair: string, { profit, fee }: Pick<Fill, 'profit' | 'fee'>): void {
    const before = this.#today.get(pair) ?? NO_MONEY
    this.#today.set(pair, {
      profit: before.profit.plus(decimal(profit)),
      fees: before.fees.plus(decimal(fee)),
      fills: before.fills + 1,
    })
  }

  #rollDay(): void {
    const now = this.#options.now()
    if (now - this.#lookedAt < DAY_LOOKED_AT_EVERY_MS) return
    this.#lookedAt = now
    const dayFrom = startOfDay(now, this.#options.timeZone)
    if (dayFrom <= this.#dayFrom) return
    this.#dayFrom = dayFrom
    this.#today.clear()
  }
}
