import { decimal } from '../../lib/decimal.ts'
import { own } from '../../lib/own.ts'
import { type PositionMode } from '../../domain/instrument.ts'
import { type JournalContents } from '../../journal/journal.ts'
import { applyRecord } from './apply-record.ts'
import { type Book, createBook, type Money, storeOrder } from './book.ts'
import { type Order } from '../../domain/order.ts'

/** The money of a {@link Book} as text. */
interface MoneyJson {
  readonly profit: string
  readonly fees: string
  readonly fills: number
}

/** Maps that hold plain JSON and are written as arrays of entries. */
const PLAIN_MAPS = [
  'grids',
  'keys',
  'ordinals',
  'orphans',
  'trades',
  'holdings',
  'unsettled',
  'account',
  'fundingCounters',
  'strategyStates',
  'quotes',
  'targets',
  'places',
  'calls',
  'callKeys',
  'restrictions',
  'cancels',
] as const

/** The book as plain JSON, for a checkpoint. The same book gives the same text. */
export function bookToJson(book: Book): unknown {
  const plain = Object.fromEntries(PLAIN_MAPS.map((name) => [name, [...book[name].entries()]]))
  return {
    positionMode: book.positionMode,
    epoch: book.epoch,
    batchId: book.batchId,
    fillsThroughAt: book.fillsThroughAt,
    recordsLostAt: book.recordsLostAt,
    ...plain,
    orders: [...book.orders.values()],
    withdrawn: [...book.withdrawn],
    money: [...book.money].map(([key, money]) => [key, moneyToJson(money)]),
    funding: [...book.funding].map(([key, paid]) => [key, paid.toString()]),
  }
}

/** Rebuilds the book of a checkpoint. @throws TypeError when it is not what {@link bookToJson} wrote. */
export function bookFromJson(json: unknown): Book {
  const stored = json as Record<string, unknown> & {
    positionMode: Book['positionMode']
    epoch: number
    batchId: number
    fillsThroughAt: number
    recordsLostAt: number
    orders: Order[]
    withdrawn: Order['terms']['clientOid'][]
    money: [string, MoneyJson][]
    funding: [string, string][]
  }
  const book = own(createBook(stored.positionMode))
  book.epoch = stored.epoch
  book.batchId = stored.batchId
  book.fillsThroughAt = stored.fillsThroughAt
  book.recordsLostAt = stored.recordsLostAt
  for (const name of PLAIN_MAPS) {
    const map = book[name] as Map<unknown, unknown>
    // Checkpoints of earlier versions have no grids.
    for (const [key, value] of (stored[name] ?? []) as [unknown, unknown][]) map.set(key, value)
  }
  // JSON leaves out an orderId that is not known yet; its place among the fields stays, so that texts agree.
  for (const { terms, state, orderId, ...rest } of stored.orders) {
    storeOrder(book, { terms, state, orderId, ...rest })
  }
  for (const clientOid of stored.withdrawn) book.withdrawn.add(clientOid)
  for (const [key, money] of stored.money) book.money.set(key, moneyFromJson(money))
  for (const [key, paid] of stored.funding) book.funding.set(key, decimal(paid))
  return book
}

function moneyToJson(money: Money): MoneyJson {
  return { profit: money.profit.toString(), fees: money.fees.toString(), fills: money.fills }
}

function moneyFromJson(json: MoneyJson): Money {
  return { profit: decimal(json.profit), fees: decimal(json.fees), fills: json.fills }
}

/** The book as the journal's last writer had it: its checkpoint, and every record after that (DET2). */
export function rebuildBook({ checkpoint, records }: JournalContents, positionMode: PositionMode): Book {
  const book = checkpoint === undefined ? createBook(positionMode) : bookFromJson(checkpoint)
  for (const record of records) applyRecord(book, record)
  return book
}
