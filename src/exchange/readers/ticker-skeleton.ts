import { TICKER_COLUMNS, type TickerColumn } from '../../domain/ticker-table.ts'

/** What stands in a field of a row: from 0 on an index into {@link TICKER_COLUMNS}, below it one of these. */
export const SLOT = { symbol: -1, other: -2, end: -3 } as const

/** All of an answer that is not a value: what a scan compares byte by byte. */
export interface Skeleton {
  /** In their order: bytes that must be the same, the exchange's time, and the rows. */
  readonly envelope: readonly (Uint8Array | 'requestTime' | 'rows')[]
  /** Of every row, what stands before each of its values, and behind the last: one after the other. */
  readonly literals: DataView
  /** By field: where its literal ends. */
  readonly literalEnds: Int32Array
  /** By field: what its value is. The last one is {@link SLOT.end}. */
  readonly slots: Int32Array
  /** Columns that no field of the row fills. */
  readonly missing: readonly TickerColumn[]
  readonly symbols: readonly string[]
  /** The symbols as they stand in the answer, quotes included. */
  readonly symbolBytes: DataView
  readonly symbolEnds: Int32Array
}

/** A value that is a text, a number or a word of the language; a list or a record in the envelope is not followed. */
const SCALAR = String.raw`(?:"[^"\\]*"|null|true|false|-?\d+(?:\.\d+)?)`
const TEXT_OR_NULL = String.raw`(?:"[^"\\]*"|null)`
const BEFORE_ROWS = new RegExp(String.raw`^\{(?:"\w+":${SCALAR},)*"data":\[`)
const BEHIND_ROWS = new RegExp(String.raw`^\](?:,"\w+":${SCALAR})*\}$`)
const ROW = new RegExp(String.raw`^\{"\w+":${TEXT_OR_NULL}(?:,"\w+":${TEXT_OR_NULL})*\}`)
const REQUEST_TIME = /^(.*"requestTime":)(?:\d+|"\d+")(.*)$/s

/**
 * What can be learned from an answer that was read in full, all of its rows good. Undefined where its shape is none
 * that a scan could follow: blanks between the values, escapes, lists within rows. The first row is the pattern: that
 * the others match it is for a scan of the same answer to find out.
 */
export function learnSkeleton(body: Buffer, symbols: readonly string[]): Skeleton | undefined {
  const text = body.toString('latin1')
  const [before] = BEFORE_ROWS.exec(text) ?? []
  if (before === undefined) return undefined
  const [row] = ROW.exec(text.slice(before.length, before.length + ROW_BYTES_MAX)) ?? []
  const behind = text.slice(text.lastIndexOf('}]') + 1)
  if (row === undefined || !BEHIND_ROWS.test(behind)) return undefined
  // A key that comes twice counts where it comes last: such an answer is for the slow reader.
  if (![keysOf(before + behind), keysOf(row)].every(areDistinct) || !keysOf(row).includes('symbol'))
    return undefined
  return {
    envelope: [...partsOf(before), 'rows', ...partsOf(behind)],
    ...patternOf(row),
    symbols,
    ...bytesOfAll(symbols),
  }
}

/** A row has some 500 bytes. */
const ROW_BYTES_MAX = 16_384

function partsOf(text: string): Skeleton['envelope'] {
  const [, before, behind] = REQUEST_TIME.exec(text) ?? []
  if (before === undefined || behind === undefined) return [latin1(text)]
  return [latin1(before), 'requestTime', latin1(behind)]
}

/** What stands before each value of a row. */
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

/** Where each of a run of parts ends. */
function endsOf(lengths: readonly number[]): Int32Array {
  let end = 0
  return Int32Array.from(lengths, (length) => (end += length))
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
