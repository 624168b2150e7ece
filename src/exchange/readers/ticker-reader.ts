import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import {
  DELIVERY_STATES,
  TICKER_COLUMNS,
  type TickerColumn,
  type TickerTable,
} from '../../domain/ticker-table.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { requestTimeOf, SUCCESS_CODE, withoutMark } from '../../protocol/envelope.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

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

export const NEGATIVE_ALLOWED: ReadonlySet<TickerColumn> = new Set([
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

export function isPossible(column: TickerColumn, value: number): boolean {
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
  if (!hasSameSymbols(table, rows)) table.clear()
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

function hasSameSymbols(table: TickerTable, rows: readonly NamedRow[]): boolean {
  const { symbols } = table
  if (symbols.length !== rows.length) return false
  for (let index = 0; index < rows.length; index++) {
    if (rows[index]?.symbol !== symbols[index]) return false
  }
  return true
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
export function parseNumber(value: unknown): number | undefined {
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
