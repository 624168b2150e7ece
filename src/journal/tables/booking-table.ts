import { hash } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { BookedFill, BookedFunding, BookedRow, Booking, BookingSpan } from '../booking.ts'
import { addDigest, NO_ROWS, type RowsSum, sumToText, takeDigest } from './rows-sum.ts'

const DAY_MS = 86_400_000

type BookedKind = BookedRow['kind']

/** Columns are in the order in which the digest reads them. */
const TABLES = {
  fill: {
    name: 'fills',
    key: ['tradeId', 'orderId'],
    columns: [
      'tradeId',
      'at',
      'orderId',
      'clientOid',
      'strategyId',
      'owner',
      'symbol',
      'side',
      'tradeSide',
      'price',
      'size',
      'profit',
      'fee',
      'coin',
      'scope',
      'source',
      'fillKind',
      'otherFees',
      'reason',
      'tag',
    ] as readonly (keyof BookedFill)[],
    /**
     * How many columns layouts 8 and 7 added at the end. The digest omits those of a layout if they
     * are empty, so that earlier rows keep their digests.
     */
    added: [2, 2],
  },
  funding: {
    name: 'funding',
    key: ['id'],
    columns: ['id', 'at', 'symbol', 'side', 'amount', 'coin'] as readonly (keyof BookedFunding)[],
    added: [],
  },
} as const

export const BOOKED_KINDS = ['fill', 'funding'] as const

export interface BookedDays {
  readonly days: ReadonlyMap<string, RowsSum>
  readonly sum: RowsSum
}

export function readDays(database: DatabaseSync): BookedDays {
  const days = new Map<string, RowsSum>()
  let [rows, sum] = [0, 0n]
  for (const row of database.prepare('SELECT kind, day, rows, sum FROM booked_days').iterate()) {
    const day = { rows: Number(row['rows']), sum: BigInt(`0x${String(row['sum'])}`) }
    days.set(`${String(row['kind'])} ${Number(row['day'])}`, day)
    rows += day.rows
    sum += day.sum
  }
  return { days, sum: { rows, sum: BigInt.asUintN(128, sum) } }
}

/** Each record that books something holds this text, and so does the seal. */
export function totalToText(sum: RowsSum): string {
  return `${sum.rows} ${sumToText(sum)}`
}

/** Yields undamaged rows, however many others are damaged. */
export function* salvageBookings(
  database: DatabaseSync,
  firstLink: string,
  kind: BookedKind,
): Generator<BookedRow> {
  for (const row of database.prepare(`SELECT * FROM ${TABLES[kind].name}`).iterate()) {
    const stored = toRow(kind, row)
    if (digestOf(firstLink, stored) === row['digest']) yield stored
  }
}

/**
 * Checks each row, but not that none is missing.
 * @throws RangeError for a damaged row
 */
export function* readBookings(
  database: DatabaseSync,
  firstLink: string,
  {
    kind,
    since = 0,
    until = Number.MAX_SAFE_INTEGER,
    newestFirst = false,
    count,
  }: BookingQuery & {
    readonly kind: BookedKind
    readonly count?: RowsCount | undefined
  },
): Generator<BookedRow> {
  const { name, key } = TABLES[kind]
  const order = ['at', ...key].map((column) => `${column} ${newestFirst ? 'DESC' : 'ASC'}`)
  const query = `SELECT * FROM ${name} WHERE at >= ? AND at < ? ORDER BY ${order.join(', ')}`
  for (const row of database.prepare(query).iterate(since, until)) {
    const stored = toRow(kind, row)
    if (digestOf(firstLink, stored) !== row['digest']) throw notAsWritten(kind, dayOf(stored.at))
    if (count) count.sum = addDigest(count.sum, String(row['digest']))
    yield stored
  }
}

export interface BookingQuery extends BookingSpan {
  readonly newestFirst?: boolean
}

export interface RowsCount {
  sum: RowsSum
}

export function areBookingsWhole(database: DatabaseSync, firstLink: string): boolean {
  const { days } = readDays(database)
  const found = new Map<string, RowsSum>()
  for (const kind of BOOKED_KINDS) {
    for (const row of salvageBookings(database, firstLink, kind)) {
      const day = nameOfDay(kind, dayOf(row.at))
      found.set(day, addDigest(found.get(day) ?? NO_ROWS, digestOf(firstLink, row)))
    }
  }
  return [...new Set([...days.keys(), ...found.keys()])].every((day) =>
    isSame(days.get(day), found.get(day)),
  )
}

/**
 * Keeps fills and funding payments until they are archived. They are written in the transaction of
 * their record, which holds the sum of all rows, so that none can be lost unnoticed. Each day has a
 * sum of its own, and is checked when it is read.
 */
export class BookingTable {
  readonly #database: DatabaseSync
  readonly #firstLink: string
  readonly #days: Map<string, RowsSum>
  readonly #putDay: StatementSync
  readonly #dropDay: StatementSync
  readonly #statements: Readonly<
    Record<BookedKind, Readonly<Record<'find' | 'put' | 'read' | 'drop', StatementSync>>>
  >
  #sum: RowsSum

  constructor(database: DatabaseSync, firstLink: string, found: BookedDays) {
    this.#database = database
    this.#firstLink = firstLink
    this.#days = new Map(found.days)
    this.#sum = found.sum
    this.#putDay = database.prepare(
      'REPLACE INTO booked_days (kind, day, rows, sum) VALUES (?, ?, ?, ?)',
    )
    this.#dropDay = database.prepare('DELETE FROM booked_days WHERE kind = ? AND day = ?')
    this.#statements = { fill: this.#prepare('fill'), funding: this.#prepare('funding') }
  }

  #prepare(kind: BookedKind): Readonly<Record<'find' | 'put' | 'read' | 'drop', StatementSync>> {
    const { name, key, columns } = TABLES[kind]
    const all = [...columns, 'digest']
    const span = 'at >= ? AND at < ?'
    return {
      find: this.#database.prepare(
        `SELECT * FROM ${name} WHERE ${key.map((one) => `${one} = ?`).join(' AND ')}`,
      ),
      put: this.#database.prepare(
        `REPLACE INTO ${name} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})`,
      ),
      read: this.#database.prepare(
        `SELECT * FROM ${name} WHERE ${span} ORDER BY at, ${key.join(', ')}`,
      ),
      drop: this.#database.prepare(`DELETE FROM ${name} WHERE ${span}`),
    }
  }

  get sum(): RowsSum {
    return this.#sum
  }

  /**
   * Needs the transaction of their record.
   * @throws RangeError for a damaged row
   */
  apply(bookings: Iterable<Booking>): void {
    for (const booking of bookings) {
      if (booking.kind !== 'owner') {
        this.#put(booking)
        continue
      }
      const { kind: _, ...owner } = booking
      const stored = this.#find('fill', keyOf(booking))
      // The fill may have been archived meanwhile.
      if (stored?.kind === 'fill') this.#put({ ...stored, ...owner })
    }
  }

  /**
   * Yields the oldest first. A day is checked after its last row, so only a span that is read to
   * its end is proved.
   * @throws RangeError for a day that is not as it was written
   */
  *read(
    kind: BookedKind,
    { since = 0, until = Number.MAX_SAFE_INTEGER }: BookingSpan = {},
  ): Generator<BookedRow> {
    const [first, last] = [dayOf(since), dayOf(until - 1)]
    const expected = new Map(this.#daysOf(kind).filter(([day]) => day >= first && day <= last))
    let [found, before]: [RowsSum, BookedRow | undefined] = [NO_ROWS, undefined]
    const proveDay = (day: number): void => {
      if (!isSame(found, expected.get(day))) throw notAsWritten(kind, day)
      expected.delete(day)
      found = NO_ROWS
    }
    for (const row of this.#statements[kind].read.iterate(first * DAY_MS, (last + 1) * DAY_MS)) {
      const stored = this.#prove(kind, row)
      if (before && stored.at < before.at) throw notAsWritten(kind, dayOf(stored.at))
      if (before && dayOf(before.at) !== dayOf(stored.at)) proveDay(dayOf(before.at))
      found = addDigest(found, String(row['digest']))
      before = stored
      if (stored.at >= since && stored.at < until) yield stored
    }
    if (before) proveDay(dayOf(before.at))
    for (const [day] of expected) throw notAsWritten(kind, day)
  }

  /**
   * Needs a transaction.
   * @param before Unix ms
   */
  drop(before: number): void {
    for (const kind of BOOKED_KINDS) {
      const { read, drop } = this.#statements[kind]
      for (const row of read.iterate(0, before)) this.#count(this.#prove(kind, row), takeDigest)
      drop.run(0, before)
    }
  }

  #put(row: BookedRow): void {
    const { put } = this.#statements[row.kind]
    const found = this.#find(row.kind, keyOf(row))
    if (found) this.#count(found, takeDigest)
    put.run(...valuesOf(row), digestOf(this.#firstLink, row))
    this.#count(row, addDigest)
  }

  #find(kind: BookedKind, key: readonly string[]): BookedRow | undefined {
    const row = this.#statements[kind].find.get(...key)
    return row && this.#prove(kind, row)
  }

  #prove(kind: BookedKind, row: BookingRow): BookedRow {
    const stored = toRow(kind, row)
    if (digestOf(this.#firstLink, stored) === row['digest']) return stored
    throw notAsWritten(kind, dayOf(stored.at))
  }

  #count(row: BookedRow, change: (sum: RowsSum, digest: string) => RowsSum): void {
    const day = dayOf(row.at)
    const digest = digestOf(this.#firstLink, row)
    this.#setDay(row.kind, day, change(this.#days.get(nameOfDay(row.kind, day)) ?? NO_ROWS, digest))
    this.#sum = change(this.#sum, digest)
  }

  #setDay(kind: BookedKind, day: number, sum: RowsSum): void {
    const name = nameOfDay(kind, day)
    if (sum.rows === 0) {
      this.#days.delete(name)
      this.#dropDay.run(kind, day)
      return
    }
    this.#days.set(name, sum)
    this.#putDay.run(kind, day, sum.rows, sumToText(sum))
  }

  #daysOf(kind: BookedKind): readonly (readonly [number, RowsSum])[] {
    return [...this.#days].flatMap(([name, sum]) =>
      name.startsWith(`${kind} `) ? [[Number(name.slice(kind.length + 1)), sum] as const] : [],
    )
  }
}

type BookingRow = Readonly<Record<string, SQLOutputValue>>

function toRow(kind: BookedKind, row: BookingRow): BookedRow {
  const columns: readonly string[] = TABLES[kind].columns
  const values = columns.map((column) => [
    column,
    column === 'at' ? Number(row[column]) : String(row[column] ?? ''),
  ])
  return { kind, ...Object.fromEntries(values) } as BookedRow
}

function valuesOf(row: BookedRow): (string | number)[] {
  if (row.kind === 'fill') return TABLES.fill.columns.map((column) => row[column])
  return TABLES.funding.columns.map((column) => row[column])
}

function keyOf(booking: Booking): readonly string[] {
  return booking.kind === 'funding' ? [booking.id] : [booking.tradeId, booking.orderId]
}

function digestOf(firstLink: string, row: BookedRow): string {
  let covered = valuesOf(row)
  for (const added of TABLES[row.kind].added) {
    if (covered.slice(-added).some((value) => value !== '')) break
    covered = covered.slice(0, -added)
  }
  return hash('sha256', `${firstLink} ${row.kind} ${JSON.stringify(covered)}`, 'hex').slice(0, 32)
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}

function nameOfDay(kind: BookedKind, day: number): string {
  return `${kind} ${day}`
}

function isSame(one: RowsSum = NO_ROWS, other: RowsSum = NO_ROWS): boolean {
  return one.rows === other.rows && one.sum === other.sum
}

function notAsWritten(kind: BookedKind, day: number): RangeError {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
  return new RangeError(`a ${kind} of ${date} is not as it was written`)
}
