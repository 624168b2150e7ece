import type { CandleSeries } from '../../domain/candles.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { decimal } from '../../lib/decimal.ts'
import { mutable } from '../../lib/mutable.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import type { BookRow, JournalContents, RowChange } from '../../journal/journal.ts'
import { applyRecord } from './apply-record.ts'
import { candlesFromJson, type CandlesJson, candlesToJson } from './candle-book.ts'
import {
  addEnded,
  type Book,
  createBook,
  indexOrder,
  indexPlace,
  type WritableBook,
} from './book.ts'
import { TrackedMap, TrackedSegmentedMap, TrackedSet } from '../../lib/tracked-collections.ts'
import type { Money } from '../../domain/fill-money.ts'
import type { Order } from '../../domain/order.ts'

type MoneyJson = Omit<Money, 'profit' | 'fees'> & { readonly profit: string; readonly fees: string }

/** Rows keep the order of their collection, since effects may depend on it. */
const COLLECTIONS = [
  'grids',
  'keys',
  'ordinals',
  'orphans',
  'trades',
  'holdings',
  'unsettled',
  'unsettledMoves',
  'account',
  'entries',
  'fundingCounters',
  'strategyStates',
  'quotes',
  'targets',
  'targetTags',
  'places',
  'calls',
  'callKeys',
  'restrictions',
  'cancels',
  'orders',
  'withdrawn',
  'money',
  'funding',
  'unseenFunding',
  'ownTrades',
  'exits',
  'orderedExits',
  'candles',
  'watermarks',
  'exitStates',
  'universes',
  'leavings',
  'signals',
  'signalIds',
  'deposits',
] as const
type Collection = (typeof COLLECTIONS)[number]

/** All single numbers and words are one row, which every checkpoint writes. */
const SCALARS_ROW = 'scalars'
const SCALARS: Readonly<
  Record<Exclude<keyof Book, Collection | 'open' | 'byOrderId' | 'ended' | 'placesBySymbol'>, true>
> = {
  positionMode: true,
  epoch: true,
  beganAt: true,
  recordedAt: true,
  batchId: true,
  fillsThroughAt: true,
  tradesSinceAt: true,
  recordsLostAt: true,
  deposited: true,
  archivedBefore: true,
}

/** All rows; a checkpoint writes only changed ones ({@link takeBookChanges}). */
export function toBookRows(book: Book): readonly BookRow[] {
  const rows = COLLECTIONS.flatMap((name) =>
    [...book[name].keys()].map((key) => toRow(book, name, key)),
  )
  return [scalarsOf(book), ...rows]
}

/** Changes since the last call, or since the book was read. */
export function takeBookChanges(book: Book): readonly RowChange[] {
  const removed: RowChange[] = []
  const put: RowChange[] = []
  for (const name of COLLECTIONS) {
    const changed = trackedOf(book, name).takeChanges()
    for (const key of changed.removed) removed.push({ name, key, value: undefined })
    for (const key of changed.put) put.push(toRow(book, name, key))
  }
  return [...removed, scalarsOf(book), ...put]
}

export function countBookChanges(book: Book): number {
  return COLLECTIONS.reduce((sum, name) => sum + trackedOf(book, name).changedSize, 0)
}

function trackedOf(
  book: Book,
  name: Collection,
): TrackedMap<string, unknown> | TrackedSegmentedMap<string, unknown> | TrackedSet<string> {
  const entries: unknown = book[name]
  if (
    entries instanceof TrackedMap ||
    entries instanceof TrackedSegmentedMap ||
    entries instanceof TrackedSet
  )
    return entries
  throw new TypeError(`nothing remembers what changed in ${name}: it is the book of a replay`)
}

function scalarsOf(book: Book): BookRow {
  const values = Object.fromEntries(
    Object.keys(SCALARS).map((name) => [name, book[name as keyof Book]]),
  )
  return { name: SCALARS_ROW, key: '', value: JSON.stringify(values) }
}

function toRow(book: Book, name: Collection, key: string): BookRow {
  return { name, key, value: JSON.stringify(toRowValue(book, name, key)) }
}

function toRowValue(book: Book, name: Collection, key: string): unknown {
  if (name === 'withdrawn') return true
  const value = (book[name] as ReadonlyMap<string, unknown>).get(key)
  if (name === 'money') return moneyToJson(value as Money)
  if (name === 'candles') return candlesToJson(value as CandleSeries)
  return name === 'funding' ? String(value) : value
}

/** @throws TypeError for what {@link toBookRows} did not give */
export function fromBookRows(rows: Iterable<BookRow>): Book {
  const target = createBook('one_way_mode')
  const book = mutable(target)
  for (const { name, key, value } of rows) {
    const parsed: unknown = JSON.parse(value)
    if (name === SCALARS_ROW) Object.assign(book, parsed)
    else restoreEntry(book, toCollection(name), key, parsed)
  }
  return target
}

function toCollection(name: string): Collection {
  const found = COLLECTIONS.find((known) => known === name)
  if (found === undefined) throw new TypeError(`a book has no ${name}`)
  return found
}

function restoreEntry(book: WritableBook, name: Collection, key: string, stored: unknown): void {
  const entries = trackedOf(book, name)
  if (entries instanceof TrackedSet) return entries.restore(key)
  const value = fromRowValue(name, stored)
  entries.restore(key, value)
  if (name === 'orders') restoreIndexes(book, value as Order)
  if (name === 'places') indexPlace(book, value as OrderIntent)
}

function restoreIndexes(book: WritableBook, order: Order): void {
  indexOrder(book, order)
  const { endedAt, terms } = order
  if (endedAt !== 0) addEnded(book.ended, { clientOid: terms.clientOid, endedAt })
}

function fromRowValue(name: Collection, stored: unknown): unknown {
  if (name === 'money') return moneyFromJson(stored as MoneyJson)
  if (name === 'candles') return candlesFromJson(stored as CandlesJson)
  if (name === 'funding') return decimal(stored as string)
  if (name === 'signals') return deepFreeze(stored)
  if (name !== 'orders') return stored
  // JSON leaves out an unknown orderId, which must keep its place among the fields.
  const { terms, state, orderId, ...rest } = stored as Order
  return { terms, state, orderId, ...rest }
}

function moneyToJson({ profit, fees, ...rest }: Money): MoneyJson {
  return { profit: profit.toString(), fees: fees.toString(), ...rest }
}

function moneyFromJson({ profit, fees, ...rest }: MoneyJson): Money {
  return { profit: decimal(profit), fees: decimal(fees), ...rest }
}

/** Applies every record after the checkpoint (DET2). */
export function rebuildBook(
  { checkpoint, records }: JournalContents,
  positionMode: PositionMode,
): Book {
  const book = checkpoint === undefined ? createBook(positionMode) : fromBookRows(checkpoint)
  for (const record of records) applyRecord(book, record)
  return book
}
