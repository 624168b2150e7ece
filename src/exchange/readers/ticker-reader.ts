import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { Answer } from '../../domain/answer.ts'
import {
  DELIVERY_STATES,
  TICKER_COLUMNS,
  type TickerColumn,
  type TickerTable,
} from '../../domain/ticker-table.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { requestTimeOf, SUCCESS_CODE, withoutMark } from '../../protocol/envelope.ts'
import { type AnswerRules, readAnswer, unpackAnswer } from '../client/answer-reader.ts'
import type { WireAnswer } from '../client/transport.ts'

/**
 * - `filled`: exactly this answer. An undocumented row costs its instrument alone (MKT4): its
 *   values are NaN, and the table says why.
 * - `malformed`: a success by its code, but not as documented. The table is empty.
 * - `other`: no success. The table is empty.
 */
export type TickersRead =
  | { readonly kind: 'filled'; readonly requestTime: number | undefined }
  | { readonly kind: 'malformed'; readonly problem: string }
  | { readonly kind: 'other' }

const NEGATIVE_ALLOWED: ReadonlySet<TickerColumn> = new Set([
  'change24h',
  'changeUtc24h',
  'fundingRate',
])

/** No instrument can count a higher price exactly; sums could become infinite. */
const PRICE_MAX = Number.MAX_SAFE_INTEGER
const PRICE_COLUMNS: ReadonlySet<TickerColumn> = new Set([
  'lastPr',
  'askPr',
  'bidPr',
  'high24h',
  'low24h',
  'openUtc',
  'indexPrice',
  'open24h',
])

function isPossible(column: TickerColumn, value: number): boolean {
  if (value < 0 && !NEGATIVE_ALLOWED.has(column)) return false
  return !(value > PRICE_MAX && PRICE_COLUMNS.has(column))
}

const DELIVERY_INDEX: ReadonlyMap<string, number> = new Map(
  DELIVERY_STATES.map((state, index) => [state, index]),
)

const tickersEnvelope = z.object({
  code: z.literal(SUCCESS_CODE),
  requestTime: z.union([z.number(), z.string(), z.null()]).optional(),
  data: z.unknown(),
})

class Malformed extends Error {
  override readonly name = 'Malformed'
}

/** As strict as the row's schema; values must be numbers as well. */
export function readTickersJson(body: Buffer, table: TickerTable): TickersRead {
  const parsed = tickersEnvelope.safeParse(parseJson(body))
  if (!parsed.success) {
    forgetTickers(table)
    return { kind: 'other' }
  }
  try {
    fillTable(table, parsed.data.data)
  } catch (error) {
    forgetTickers(table)
    if (error instanceof Malformed || error instanceof RangeError) {
      return { kind: 'malformed', problem: error.message }
    }
    throw error
  }
  return { kind: 'filled', requestTime: requestTimeOf({ ...parsed.data, data: undefined }) }
}

function parseJson(body: Buffer): unknown {
  try {
    return isUtf8(body) ? parseBoundedJson(withoutMark(body.toString('utf8'))) : undefined
  } catch {
    return undefined
  }
}

/** An older answer must not be taken for this one. */
export function forgetTickers(table: TickerTable): void {
  table.clear()
  table.readAt = 0
  table.requestTime = 0
  table.unreadable = new Map()
}

function fillTable(table: TickerTable, data: unknown): void {
  if (!Array.isArray(data)) throw new Malformed('data: expected a list')
  const named = data.filter(isNamed)
  if (named.length === 0 && data.length > 0)
    throw new Malformed('data: no entry names an instrument')
  const { rows, beyond } = cutToCapacity(named, table.capacity)
  const unreadable = new Map(beyond)
  const symbols = rows.map(({ symbol }) => symbol)
  if (!hasSymbols(table, symbols)) table.clear()
  const isFresh = table.symbols.length === 0
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]
    if (row === undefined) continue
    const isTwice = isFresh && table.rowOf(row.symbol) >= 0
    const place = isFresh ? table.claimRow(row.symbol) : index
    const problem = isTwice ? 'it is listed twice' : fillRow(table, place, row)
    if (problem === undefined) continue
    unreadable.set(row.symbol, problem)
    for (const column of TICKER_COLUMNS) table.columns[column][place] = Number.NaN
  }
  table.unreadable = unreadable
}

function cutToCapacity(
  named: readonly NamedRow[],
  capacity: number,
): { readonly rows: readonly NamedRow[]; readonly beyond: ReadonlyMap<string, string> } {
  const beyond = new Map<string, string>()
  if (named.length <= capacity) return { rows: named, beyond }
  const why = `it stands behind the first ${capacity} instruments, which are all that is read`
  const held = new Set<string>()
  const rows = named.filter(({ symbol }) => {
    if (held.has(symbol) || held.size < capacity) return held.add(symbol)
    beyond.set(symbol, why)
    return false
  })
  return { rows, beyond }
}

type NamedRow = Readonly<Record<string, unknown>> & { readonly symbol: string }

function isNamed(row: unknown): row is NamedRow {
  return isRecord(row) && typeof row['symbol'] === 'string' && row['symbol'] !== ''
}

/** A listing that never traded has no last price, and a row may have no time. */
function fillRow(table: TickerTable, place: number, row: NamedRow): string | undefined {
  for (const column of TICKER_COLUMNS) {
    const value = row[column]
    const number = column === 'deliveryStatus' ? deliveryIndex(value) : parseNumber(value)
    if (number === undefined || !isPossible(column, number)) {
      return `${column}: ${describe(value)}`
    }
    table.columns[column][place] = number
  }
  return undefined
}

/** NaN for a missing value; undefined for anything but a plain number in a string. */
function parseNumber(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return Number.NaN
  if (typeof value !== 'string') return undefined
  const first = value.charCodeAt(0)
  const isDigitFirst = first >= 48 && first <= 57
  if (!isDigitFirst && first !== 45) return undefined
  // JavaScript reads `0x10`, `0b1` and `0o7`, the exchange does not; `0E-8` is a number to both.
  if (first === 48 && value.charCodeAt(1) > 57 && !/^0e/i.test(value)) return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

function deliveryIndex(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return Number.NaN
  return typeof value === 'string' ? DELIVERY_INDEX.get(value) : undefined
}

function describe(value: unknown): string {
  const text = typeof value === 'string' ? `"${value.slice(0, 40)}"` : typeof value
  return `${text} is not a value that it has`
}

/**
 * Takes less than half the time of JSON.parse (`node bench/tickers.ts`). Every byte that is no
 * value must equal the last answer that was read in full. Any other answer is read in full and
 * learned, so a new field costs one slow poll, never a wrong number.
 */
export class TickerScanner {
  #skeleton: Skeleton | undefined

  read(body: Buffer, table: TickerTable): TickersRead {
    const skeleton = this.#skeleton
    if (skeleton !== undefined && hasSymbols(table, skeleton.symbols)) {
      const scanned = scan(body, skeleton, table)
      if (scanned !== undefined) return scanned
    }
    const read = readTickersJson(body, table)
    if (read.kind === 'filled' && table.unreadable.size === 0) {
      const learned = learnSkeleton(body, table.symbols)
      this.#skeleton =
        learned !== undefined && fits(body, learned, read.requestTime) ? learned : undefined
    }
    return read
  }
}

const QUOTE = 0x22
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LETTER_N = 0x6e

/** Up to so many digits, integer and power of ten are exact, so one division rounds correctly. */
const EXACT_DIGITS = 15
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, power) => 10 ** power)

const NONE: ReadonlyMap<string, string> = new Map()
const MAY_BE_NEGATIVE = Uint8Array.from(TICKER_COLUMNS, (column) =>
  NEGATIVE_ALLOWED.has(column) ? 1 : 0,
)
const STATUS_COLUMN = TICKER_COLUMNS.indexOf('deliveryStatus' satisfies TickerColumn)

interface Cursor {
  at: number
  value: number
}

function fits(body: Buffer, skeleton: Skeleton, requestTime: number | undefined): boolean {
  const read = scan(body, skeleton)
  return read?.kind === 'filled' && read.requestTime === requestTime
}

/**
 * Undefined if a byte differs: the table is then half written, and the answer must be read in full.
 * Without a table the bytes are only compared.
 */
function scan(body: Buffer, skeleton: Skeleton, table?: TickerTable): TickersRead | undefined {
  const cursor: Cursor = { at: 0, value: Number.NaN }
  let requestTime = Number.NaN
  for (const part of skeleton.envelope) {
    if (part === 'rows') {
      if (!scanRows(body, cursor, { skeleton, table })) return undefined
    } else if (part === 'requestTime') {
      if (!scanTime(body, cursor)) return undefined
      requestTime = cursor.value
    } else if (!skip(body, cursor, part)) return undefined
  }
  if (cursor.at !== body.length) return undefined
  if (table !== undefined) table.unreadable = NONE
  return { kind: 'filled', requestTime: requestTime > 0 ? requestTime : undefined }
}

function hasSymbols({ symbols }: TickerTable, expected: readonly string[]): boolean {
  if (symbols.length !== expected.length) return false
  for (let row = 0; row < expected.length; row++) if (symbols[row] !== expected[row]) return false
  return true
}

interface RowsOf {
  readonly skeleton: Skeleton
  readonly table: TickerTable | undefined
}

/** Most of a scan's time is spent in these loops, so they are plain and allocate nothing. */
function scanRows(body: Buffer, cursor: Cursor, { skeleton, table }: RowsOf): boolean {
  const { literals, literalEnds, slots, symbolBytes, symbolEnds } = skeleton
  const columns = TICKER_COLUMNS.map((column) => table?.columns[column])
  const rows = symbolEnds.length
  for (const column of skeleton.missing) table?.columns[column].fill(Number.NaN, 0, rows)
  const bytes = viewOf(body)
  let symbolAt = 0
  for (let row = 0; row < rows; row++) {
    if (row > 0 && body[cursor.at++] !== COMMA) return false
    let from = 0
    for (let field = 0; field < slots.length; field++) {
      const to = literalEnds[field] ?? 0
      if (!isSame(bytes, cursor.at, { expected: literals, from, to })) return false
      cursor.at += to - from
      from = to
      const slot = slots[field] ?? SLOT.end
      if (slot >= 0) {
        if (!scanNumber(body, cursor, slot)) return false
        const column = columns[slot]
        if (column !== undefined) column[row] = cursor.value
      } else if (slot === SLOT.symbol) {
        const end = symbolEnds[row] ?? 0
        if (!isSame(bytes, cursor.at, { expected: symbolBytes, from: symbolAt, to: end }))
          return false
        cursor.at += end - symbolAt
        symbolAt = end
      } else if (slot === SLOT.other && !skipScalar(body, cursor)) return false
    }
  }
  return true
}

/** Compares four bytes at a time, which is twice as fast; the last four overlap. */
function isSame(
  bytes: DataView,
  at: number,
  {
    expected,
    from,
    to,
  }: { readonly expected: DataView; readonly from: number; readonly to: number },
): boolean {
  const offset = at - from
  if (to + offset > bytes.byteLength) return false
  let index = from
  for (; index + 4 <= to; index += 4) {
    if (bytes.getInt32(index + offset) !== expected.getInt32(index)) return false
  }
  for (; index < to; index++)
    if (bytes.getUint8(index + offset) !== expected.getUint8(index)) return false
  return true
}

function skip(body: Buffer, cursor: Cursor, literal: Uint8Array): boolean {
  let at = cursor.at
  for (let index = 0; index < literal.length; index++)
    if (body[at++] !== literal[index]) return false
  cursor.at = at
  return true
}

/** Takes a number in a string, an empty string or null; false for anything else. */
function scanNumber(body: Buffer, cursor: Cursor, column: number): boolean {
  let at = cursor.at
  if (body[at] !== QUOTE) return skipNull(body, cursor)
  const begin = ++at
  const isNegative = body[at] === MINUS
  if (isNegative) at++
  const digitsAt = at
  let digits = 0
  let byte = body[at] ?? 0
  for (; byte >= ZERO && byte <= NINE; byte = body[++at] ?? 0) digits = digits * 10 + (byte - ZERO)
  let count = at - digitsAt
  let decimals = 0
  if (byte === DOT && count > 0) {
    const decimalsAt = ++at
    for (byte = body[at] ?? 0; byte >= ZERO && byte <= NINE; byte = body[++at] ?? 0)
      digits = digits * 10 + (byte - ZERO)
    decimals = at - decimalsAt
    count += decimals
  }
  if (byte !== QUOTE || count === 0 || count > EXACT_DIGITS)
    return scanText(body, cursor, { begin, column })
  const value = digits / (POWERS_OF_TEN[decimals] ?? 1)
  if (isNegative && value > 0 && MAY_BE_NEGATIVE[column] === 0) return false
  cursor.at = at + 1
  cursor.value = isNegative ? -value : value
  return column !== STATUS_COLUMN
}

function scanText(
  body: Buffer,
  cursor: Cursor,
  { begin, column }: { readonly begin: number; readonly column: number },
): boolean {
  cursor.at = begin - 1
  if (!skipText(body, cursor)) return false
  const text = body.toString('latin1', begin, cursor.at - 1)
  const value =
    column === STATUS_COLUMN && text !== '' ? DELIVERY_INDEX.get(text) : parseNumber(text)
  const name = TICKER_COLUMNS[column]
  if (value === undefined || name === undefined || !isPossible(name, value)) return false
  cursor.value = value
  return true
}

function scanTime(body: Buffer, cursor: Cursor): boolean {
  const isText = body[cursor.at] === QUOTE
  let at = isText ? cursor.at + 1 : cursor.at
  const digitsAt = at
  let value = 0
  let byte = body[at] ?? 0
  if (byte === ZERO) return false
  for (; byte >= ZERO && byte <= NINE; byte = body[++at] ?? 0) value = value * 10 + (byte - ZERO)
  const count = at - digitsAt
  if (count === 0 || count > EXACT_DIGITS || (isText && byte !== QUOTE)) return false
  cursor.at = isText ? at + 1 : at
  cursor.value = value
  return true
}

function skipScalar(body: Buffer, cursor: Cursor): boolean {
  return body[cursor.at] === QUOTE ? skipText(body, cursor) : skipNull(body, cursor)
}

function skipText(body: Buffer, cursor: Cursor): boolean {
  let at = cursor.at + 1
  for (let byte = body[at] ?? 0; byte !== QUOTE; byte = body[++at] ?? 0) {
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return false
  }
  cursor.at = at + 1
  return true
}

function skipNull(body: Buffer, cursor: Cursor): boolean {
  const { at } = cursor
  const isNull =
    body[at] === LETTER_N && body[at + 1] === 0x75 && body[at + 2] === 0x6c && body[at + 3] === 0x6c
  cursor.at = at + 4
  cursor.value = Number.NaN
  return isNull
}

const SLOT = { symbol: -1, other: -2, end: -3 } as const

interface Skeleton {
  readonly envelope: readonly (Uint8Array | 'requestTime' | 'rows')[]
  readonly literals: DataView
  readonly literalEnds: Int32Array
  readonly slots: Int32Array
  readonly missing: readonly TickerColumn[]
  readonly symbols: readonly string[]
  readonly symbolBytes: DataView
  readonly symbolEnds: Int32Array
}

const SCALAR = String.raw`(?:"[^"\\]*"|null|true|false|-?\d+(?:\.\d+)?)`
const TEXT_OR_NULL = String.raw`(?:"[^"\\]*"|null)`
const BEFORE_ROWS = new RegExp(String.raw`^\{(?:"\w+":${SCALAR},)*"data":\[`)
const BEHIND_ROWS = new RegExp(String.raw`^\](?:,"\w+":${SCALAR})*\}$`)
const ROW = new RegExp(String.raw`^\{"\w+":${TEXT_OR_NULL}(?:,"\w+":${TEXT_OR_NULL})*\}`)
const REQUEST_TIME = /^(.*"requestTime":)(?:\d+|"\d+")(.*)$/s

/**
 * The first row is the pattern. Undefined for a shape that a scan cannot follow: blanks between
 * values, escapes, lists within rows.
 */
function learnSkeleton(body: Buffer, symbols: readonly string[]): Skeleton | undefined {
  const text = body.toString('latin1')
  const [before] = BEFORE_ROWS.exec(text) ?? []
  if (before === undefined) return undefined
  const [row] = ROW.exec(text.slice(before.length, before.length + ROW_BYTES_MAX)) ?? []
  const behind = text.slice(text.lastIndexOf('}]') + 1)
  if (row === undefined || !BEHIND_ROWS.test(behind)) return undefined
  // The last of two equal keys counts, which only the slow reader handles.
  if (![keysOf(before + behind), keysOf(row)].every(areDistinct) || !keysOf(row).includes('symbol'))
    return undefined
  return {
    envelope: [...partsOf(before), 'rows', ...partsOf(behind)],
    ...patternOf(row),
    symbols,
    ...bytesOfAll(symbols),
  }
}

const ROW_BYTES_MAX = 16_384

function partsOf(text: string): Skeleton['envelope'] {
  const [, before, behind] = REQUEST_TIME.exec(text) ?? []
  if (before === undefined || behind === undefined) return [latin1(text)]
  return [latin1(before), 'requestTime', latin1(behind)]
}

function patternOf(row: string): Pick<Skeleton, 'literals' | 'literalEnds' | 'slots' | 'missing'> {
  const keys = keysOf(row)
  const literals = [...keys.map((key, index) => `${index === 0 ? '{' : ','}"${key}":`), '}']
  return {
    literals: viewOf(latin1(literals.join(''))),
    literalEnds: endsOf(literals.map(({ length }) => length)),
    slots: Int32Array.from([...keys.map(slotOf), SLOT.end]),
    missing: TICKER_COLUMNS.filter((column) => !keys.includes(column)),
  }
}

function slotOf(key: string): number {
  if (key === 'symbol') return SLOT.symbol
  const column = (TICKER_COLUMNS as readonly string[]).indexOf(key)
  return column < 0 ? SLOT.other : column
}

function keysOf(text: string): readonly string[] {
  return [...text.matchAll(/[{,[\]]"(\w+)":/g)].map(([, key = '']) => key)
}

function areDistinct(keys: readonly string[]): boolean {
  return new Set(keys).size === keys.length
}

function bytesOfAll(symbols: readonly string[]): Pick<Skeleton, 'symbolBytes' | 'symbolEnds'> {
  const quoted = symbols.map((symbol) => Buffer.from(JSON.stringify(symbol)))
  return {
    symbolBytes: viewOf(Uint8Array.from(Buffer.concat(quoted))),
    symbolEnds: endsOf(quoted.map(({ length }) => length)),
  }
}

function endsOf(lengths: readonly number[]): Int32Array {
  let end = 0
  return Int32Array.from(lengths, (length) => (end += length))
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

const NOT_TICKERS = { success: false, problem: 'the answer holds no list of tickers' } as const

export function readTickerAnswer(
  wire: WireAnswer,
  { table, scanner }: { readonly table: TickerTable; readonly scanner: TickerScanner },
  rules: AnswerRules<unknown>,
): Answer<TickerTable> {
  const { status, receivedAt } = wire
  const bytes = unpackAnswer(wire, rules.answerBytesMax)
  const read: TickersRead =
    status !== 200 || typeof bytes === 'string' ? { kind: 'other' } : scanner.read(bytes, table)
  if (read.kind === 'other') return readAnswer(wire, { ...rules, parse: () => NOT_TICKERS })
  if (read.kind === 'malformed') {
    const { problem: message } = read
    return { kind: 'unknown', cause: 'unreadable', code: SUCCESS_CODE, message, status, receivedAt }
  }
  const { requestTime } = read
  table.readAt = receivedAt
  table.requestTime = requestTime ?? receivedAt
  const times = requestTime === undefined ? { receivedAt } : { receivedAt, requestTime }
  return { kind: 'accepted', data: table, ...times }
}
