import type { JournalProfitView, ProfitQuery, JournalProfitRow } from '../control/detail-views.ts'
import {
  addFill,
  describeUncounted,
  type Money,
  NO_MONEY,
  sumMoney,
  toFillMoney,
  uncountedOf,
} from '../domain/fill-money.ts'
import type { PositionMode } from '../domain/instrument.ts'
import { groupOf, NO_STRATEGY } from '../domain/row-groups.ts'
import type { Book } from '../engine/book/book.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import type { BookedFill, BookedFunding } from '../journal/booking.ts'
import type { JournalReader } from '../journal/journal-reader.ts'
import { decimal, type Decimal, ZERO } from '../lib/decimal.ts'
import { listStrategyProfits, type OwnResult, type StrategyProfit } from './strategy-profits.ts'

/** Funding is paid for the position of the account, so no strategy has a part of it. */
const ACCOUNT = '(account)'

type ProfitSource = Pick<JournalReader, 'bookings' | 'contents' | 'lastSequence'>

/**
 * The exchange knows the average price of the account alone, so strategies have sums of their own.
 */
export function readProfit(
  reader: ProfitSource,
  { positionMode, timeZone }: { readonly positionMode: PositionMode; readonly timeZone: string },
  query: ProfitQuery,
): JournalProfitView {
  const sequence = reader.lastSequence()
  const book = rebuildBook(reader.contents(), positionMode)
  const { epoch: run } = book
  return { journal: { run, sequence }, ...sumUp(reader, { book, timeZone }, query) }
}

interface Sum {
  money: Money
  funding: Decimal
}

function sumUp(
  reader: ProfitSource,
  { book, timeZone }: { readonly book: Book; readonly timeZone: string },
  { by, ...span }: ProfitQuery,
): Omit<JournalProfitView, 'journal'> {
  const fills = reader.bookings('fill', span) as Iterable<BookedFill>
  const funding = reader.bookings('funding', span) as Iterable<BookedFunding>
  const sums = new Map<string, Sum>()
  const sumOf = (name: string, coin: string): Sum => {
    const key = JSON.stringify([name, coin])
    const known = sums.get(key) ?? { money: NO_MONEY, funding: ZERO }
    sums.set(key, known)
    return known
  }
  const nameOf = (row: BookedFill | BookedFunding): string => groupOf(row, by, timeZone)
  for (const fill of fills) {
    const sum = sumOf(nameOf(fill), fill.coin)
    sum.money = addFill(sum.money, toFillMoney(fill))
  }
  for (const payment of funding) {
    const name = by === 'strategy' ? ACCOUNT : nameOf(payment)
    const sum = sumOf(name, payment.coin)
    sum.funding = sum.funding.plus(decimal(payment.amount))
  }
  const allFills = (): Iterable<BookedFill> => reader.bookings('fill') as Iterable<BookedFill>
  const profits = by === 'strategy' ? listStrategyProfits({ allFills, book, ...span }) : []
  // A strategy may have closed lots without a fill of its own.
  for (const { strategyId, coin } of profits) sumOf(strategyId, coin)
  const rows = [...sums]
    .map(([key, { money: stated, funding: paid }]): JournalProfitRow => {
      const [name = '', coin = ''] = JSON.parse(key) as string[]
      const counted = profits.find((one) => one.strategyId === name && one.coin === coin)
      const own =
        name === NO_STRATEGY
          ? withoutTaken(stated, coin, profits)
          : { ...stated, ...madeBy(counted) }
      return {
        name,
        coin,
        fills: own.fills,
        net: own.profit.minus(own.fees).plus(paid).toString(),
        realised: own.profit.toString(),
        fees: own.fees.toString(),
        funding: by === 'strategy' && name !== ACCOUNT ? '' : paid.toString(),
        uncounted: [describeUncounted(uncountedOf(own)), describeUnexplained(counted)]
          .filter(Boolean)
          .join('; '),
      }
    })
    .toSorted(
      (one, other) => one.name.localeCompare(other.name) || one.coin.localeCompare(other.coin),
    )
  const all = sumMoney([...sums.values()].map(({ money: part }) => part))
  return { rows, uncounted: describeUncounted(uncountedOf(all)) }
}

function madeBy(counted: OwnResult | undefined): Partial<OwnResult> {
  return counted === undefined ? {} : { profit: counted.profit, fees: counted.fees }
}

function withoutTaken(stated: Money, coin: string, profits: readonly StrategyProfit[]): Money {
  const taken = profits.filter((one) => one.coin === coin).map((one) => one.taken)
  return taken.reduce<Money>(
    (left, { profit, fees }) => ({
      ...left,
      profit: left.profit.minus(profit),
      fees: left.fees.minus(fees),
    }),
    stated,
  )
}

function describeUnexplained({ unexplained = [] }: Partial<StrategyProfit> = {}): string {
  if (unexplained.length === 0) return ''
  return `on ${unexplained.join(', ')} by the exchange: its fills do not explain what it holds`
}
