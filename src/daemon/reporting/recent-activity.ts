import type { Fill } from '../../domain/fill.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Money } from '../../domain/snapshot.ts'
import { type Book, NO_MONEY, pairKey } from '../../engine/book/book.ts'
import type { BookedFill, BookedRow } from '../../journal/booking.ts'
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

/** Days of a week; they may be 23 or 25 hours long. */
const WEEK_DAYS = 7
const DAY_MS = 86_400_000

/** The last fills, and what those of today and of the last seven days have brought and cost. */
export class RecentActivity {
  readonly #options: RecentActivityOptions
  readonly #fills: RecentFill[] = []
  readonly #today = new Map<string, Money>()
  #dayFrom: number
  /** The days before today, the oldest first: by when each began, Unix ms. */
  readonly #earlier: { readonly from: number; money: Money }[] = []
  #lookedAt: number

  constructor(options: RecentActivityOptions) {
    this.#options = options
    this.#lookedAt = options.now()
    this.#dayFrom = startOfDay(this.#lookedAt, options.timeZone)
    for (let days = WEEK_DAYS - 1; days > 0; days -= 1) {
      // From noon, so that a day of 23 or 25 hours is met as well.
      const noon = this.#dayFrom + DAY_MS / 2 - days * DAY_MS
      this.#earlier.push({ from: startOfDay(noon, options.timeZone), money: NO_MONEY })
    }
    const since = this.#earlier[0]?.from ?? this.#dayFrom
    for (const row of options.booked(since)) if (row.kind === 'fill') this.#addBooked(row)
  }

  /** Of one instrument or of all, the newest first. */
  fills(limit: number, symbol?: string): readonly RecentFill[] {
    const found =
      symbol === undefined ? this.#fills : this.#fills.filter(({ fill }) => fill.symbol === symbol)
    return found.slice(-limit).reverse()
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

  /** Of today and of the six days before. */
  get week(): readonly Money[] {
    this.#rollDay()
    return [...this.#earlier.map(({ money }) => money), ...this.#today.values()]
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
    if (fill.at >= this.#dayFrom) return this.#add(pairKey(fill.strategyId, fill.symbol), fill)
    const day = this.#earlier.findLast(({ from }) => fill.at >= from)
    if (day !== undefined) day.money = plus(day.money, fill)
  }

  #add(pair: string, { profit, fee }: Pick<Fill, 'profit' | 'fee'>): void {
    this.#today.set(pair, plus(this.#today.get(pair) ?? NO_MONEY, { profit, fee }))
  }

  #rollDay(): void {
    const now = this.#options.now()
    if (now - this.#lookedAt < DAY_LOOKED_AT_EVERY_MS) return
    this.#lookedAt = now
    const dayFrom = startOfDay(now, this.#options.timeZone)
    if (dayFrom <= this.#dayFrom) return
    const money = [...this.#today.values()].reduce(sum, NO_MONEY)
    this.#earlier.push({ from: this.#dayFrom, money })
    while (dayFrom - (this.#earlier[0]?.from ?? dayFrom) > (WEEK_DAYS - 0.5) * DAY_MS) this.#earlier.shift()
    this.#dayFrom = dayFrom
    this.#today.clear()
  }
}

function plus({ profit, fees, fills }: Money, fill: Pick<Fill, 'profit' | 'fee'>): Money {
  return { profit: profit.plus(decimal(fill.profit)), fees: fees.plus(decimal(fill.fee)), fills: fills + 1 }
}

function sum(one: Money, other: Money): Money {
  return {
    profit: one.profit.plus(other.profit),
    fees: one.fees.plus(other.fees),
    fills: one.fills + other.fills,
  }
}
