import type { Fill } from '../domain/fill.ts'
import type { JournalRecord } from '../domain/record.ts'
import {
  addFill,
  type FillMoney,
  type Money,
  NO_MONEY,
  sumMoney,
  toFillMoney,
} from '../domain/fill-money.ts'
import { type Book, pairKey } from '../engine/book/book.ts'
import type { BookedRow } from '../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../lib/decimal.ts'
import { startOfDay } from '../lib/start-of-day.ts'
import { closePurposeOf } from '../engine/book/bookings.ts'

const FILLS_MAX = 500
/** Time zone calculations are slow. */
const DAY_LOOKED_AT_EVERY_MS = 1000

export interface ActivityFill {
  readonly fill: Fill
  readonly strategyId: string
  readonly clientOid: string
  /** Empty: nothing closed, or no text. */
  readonly reason: string
  readonly tag: string
}

export interface RecentActivityOptions {
  readonly timeZone: string
  readonly now: () => number
  readonly booked: (kind: BookedRow['kind'], since: number) => Iterable<BookedRow>
}

/** A day may have 23 or 25 hours. */
const WEEK_DAYS = 7
const DAY_MS = 86_400_000

interface Sums {
  readonly money: Money
  /** Margin coin, negative when paid. */
  readonly funding: Decimal
}

export class RecentActivity {
  readonly #options: RecentActivityOptions
  readonly #fills: ActivityFill[] = []
  readonly #today = new Map<string, Money>()
  #fundingToday = ZERO
  #dayFrom: number
  /** Before today, oldest first. */
  readonly #earlier: { readonly from: number; sums: Sums }[] = []
  #lookedAt: number

  constructor(options: RecentActivityOptions) {
    this.#options = options
    this.#lookedAt = options.now()
    this.#dayFrom = startOfDay(this.#lookedAt, options.timeZone)
    for (let days = WEEK_DAYS - 1; days > 0; days -= 1) {
      // From noon, days of 23 or 25 hours are found too.
      const noon = this.#dayFrom + DAY_MS / 2 - days * DAY_MS
      this.#earlier.push({ from: startOfDay(noon, options.timeZone), sums: NOTHING })
    }
    const since = this.#earlier[0]?.from ?? this.#dayFrom
    for (const kind of ['fill', 'funding'] as const)
      for (const row of options.booked(kind, since)) this.#addBooked(row)
  }

  fills(limit: number, symbol?: string): readonly ActivityFill[] {
    const found =
      symbol === undefined ? this.#fills : this.#fills.filter(({ fill }) => fill.symbol === symbol)
    return found.slice(-limit).reverse()
  }

  get dayFrom(): number {
    this.#rollDay()
    return this.#dayFrom
  }

  get today(): ReadonlyMap<string, Money> {
    this.#rollDay()
    return this.#today
  }

  /** Margin coin, negative when paid. */
  get fundingToday(): Decimal {
    this.#rollDay()
    return this.#fundingToday
  }

  get week(): Sums {
    this.#rollDay()
    const days = [...this.#earlier.map(({ sums }) => sums), this.#sumsOfToday()]
    return days.reduce(sum, NOTHING)
  }

  observe(record: JournalRecord, book: Book): void {
    if (record.kind === 'funding') {
      this.#rollDay()
      if (record.at >= this.#dayFrom)
        this.#fundingToday = this.#fundingToday.plus(decimal(record.change))
    }
    if (record.kind !== 'fills') return
    this.#rollDay()
    for (const fill of record.fills) {
      const clientOid = book.byOrderId.get(fill.orderId) ?? ''
      const terms = clientOid === '' ? undefined : book.orders.get(clientOid)?.terms
      const { strategyId = '', tag = '' } = terms ?? {}
      const reason = (terms && closePurposeOf(terms)) ?? ''
      this.#fills.push({ fill, strategyId, clientOid, reason, tag })
      if (fill.filledAt >= this.#dayFrom) this.#add(pairKey(strategyId, fill.symbol), fill)
    }
    if (this.#fills.length > 2 * FILLS_MAX) this.#fills.splice(0, this.#fills.length - FILLS_MAX)
  }

  #addBooked(row: BookedRow): void {
    if (row.at >= this.#dayFrom) {
      if (row.kind === 'fill')
        return this.#add(pairKey(row.strategyId, row.symbol), toFillMoney(row))
      this.#fundingToday = this.#fundingToday.plus(decimal(row.amount))
      return
    }
    const day = this.#earlier.findLast(({ from }) => row.at >= from)
    if (day === undefined) return
    const { money, funding } = day.sums
    day.sums =
      row.kind === 'fill'
        ? { money: addFill(money, toFillMoney(row)), funding }
        : { money, funding: funding.plus(decimal(row.amount)) }
  }

  #add(pair: string, fill: FillMoney): void {
    this.#today.set(pair, addFill(this.#today.get(pair) ?? NO_MONEY, fill))
  }

  #rollDay(): void {
    const now = this.#options.now()
    if (now - this.#lookedAt < DAY_LOOKED_AT_EVERY_MS) return
    this.#lookedAt = now
    const dayFrom = startOfDay(now, this.#options.timeZone)
    if (dayFrom <= this.#dayFrom) return
    this.#earlier.push({ from: this.#dayFrom, sums: this.#sumsOfToday() })
    while (dayFrom - (this.#earlier[0]?.from ?? dayFrom) > (WEEK_DAYS - 0.5) * DAY_MS)
      this.#earlier.shift()
    this.#dayFrom = dayFrom
    this.#today.clear()
    this.#fundingToday = ZERO
  }

  #sumsOfToday(): Sums {
    const ofFills = [...this.#today.values()].map((money) => ({ money, funding: ZERO }))
    return ofFills.reduce(sum, { money: NO_MONEY, funding: this.#fundingToday })
  }
}

const NOTHING: Sums = { money: NO_MONEY, funding: ZERO }

function sum(one: Sums, other: Sums): Sums {
  return { money: sumMoney([one.money, other.money]), funding: one.funding.plus(other.funding) }
}
