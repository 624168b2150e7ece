/**
 * Plain digits are read in place, and everything else as text: exponents, signs, quotes, and more
 * digits than a float holds.
 */
import { Failure } from '../lib/failure.ts'

const [LINE_FEED, CARRIAGE_RETURN, DOT, ZERO, NINE] = [10, 13, 46, 48, 57] as const

const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

/** A float holds so many digits exactly. */
const DIGITS_MAX = 15
const POWERS_OF_TEN = Float64Array.of(
  1,
  10,
  100,
  1e3,
  1e4,
  1e5,
  1e6,
  1e7,
  1e8,
  1e9,
  1e10,
  1e11,
  1e12,
  1e13,
  1e14,
  1e15,
)

/** It matches `"60,000.0"` and `"10,5"`. */
const COMMA_IN_NUMBER = /(?:^|,)\s*("\s*[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|[\d.]+,\d+)\s*")/
const PLAIN_HINT =
  'numbers are written plainly, with a dot and without separators of thousands: 61837.63'

const SEP_LINE = /^\uFEFF?"?sep=.?"?\r?$/i
const ADDRESS_LINE = /^\uFEFF?"?https?:\/\/[^\s,;]+"?,*\r?$/i
const ABOVE_LINE_BYTES_MAX = 200

/** The first one that a line has is its separator. */
const SEPARATORS = [';', '\t', ','] as const
export type Separator = (typeof SEPARATORS)[number]

export function separatorOf(line: string): Separator {
  return SEPARATORS.find((separator) => line.includes(separator)) ?? ','
}

export function splitCells(line: string, separator: Separator): readonly string[] {
  return line.split(separator).map(unquote)
}

/** @throws Failure RECORDING_NOT_NUMERIC */
export function assertNoCommaInNumber(line: string, where: string): void {
  const [, found] = COMMA_IN_NUMBER.exec(line) ?? []
  if (separatorOf(line) !== ',' || found === undefined) return
  throw new Failure({
    code: 'RECORDING_NOT_NUMERIC',
    sentence: 'a number has a comma in it: a separator of thousands, or a decimal comma',
    facts: { where, found },
    hint: `${PLAIN_HINT}; export the file again in that format`,
  })
}

/** Skips Excel's line `sep=;` and addresses of vendors above the header. */
export function findBegin(bytes: Buffer): { readonly from: number; readonly line: number } {
  const end = bytes.indexOf(LINE_FEED)
  const first = bytes.toString('utf8', 0, Math.min(end, ABOVE_LINE_BYTES_MAX))
  const isAbove = SEP_LINE.test(first) || ADDRESS_LINE.test(first)
  return end > 0 && isAbove ? { from: end + 1, line: 2 } : { from: 0, line: 1 }
}

export interface CsvColumns {
  readonly separator: Separator
  readonly header: readonly string[]
  readonly names: readonly string[]
  readonly from: number
  /** The line of the first row, from 1. Default 2, below the header. */
  readonly firstLine?: number
  readonly source: string
  /** Reads a text such as a date; undefined if it has no meaning. */
  readonly readText?: (text: string, name: string) => number | undefined
  /** {@link readText} reads each cell of these columns, also one of digits. */
  readonly texts?: readonly string[]
  /** In these columns all digits count, also those that a float does not hold. */
  readonly times?: readonly string[]
  readonly hintFor?: (name: string) => string | undefined
}

/**
 * @returns an empty map without rows @throws Failure RECORDING_ROW_LENGTH, RECORDING_NOT_NUMERIC,
 * naming file:line
 */
export function readCsvColumns(
  bytes: Buffer,
  options: CsvColumns,
): ReadonlyMap<string, Float64Array> {
  const { header, names, from } = options
  const separator = options.separator.charCodeAt(0)
  const end = endOfRows(bytes, from)
  const columns = names.map(() => new Float64Array(countLines(bytes, from, end)))
  const columnOf = header.map((name) => columns[names.indexOf(name)])
  const isTextOf = header.map((name) => options.texts?.includes(name) === true)
  assertWholeEnd(bytes, { from, end }, options)
  let at = from
  for (let row = 0; at < end; row++) {
    let field = 0
    const lineAt = at
    let openQuote: string | undefined
    for (let isInLine = true; isInLine; field++) {
      const fieldEnd = endOfField(bytes, { at, end, separator })
      const column = columnOf[field]
      if (column !== undefined) {
        const isText = isTextOf[field] === true
        const number = isText ? -1 : plainNumber(bytes, at, fieldEnd)
        if (number >= 0) column[row] = number
        else {
          const text = bytes.toString('utf8', at, fieldEnd)
          if (hasOpenQuote(text)) openQuote ??= text
          column[row] = otherNumber(text, { options, field, row, isText })
        }
      }
      isInLine = bytes[fieldEnd] === separator
      at = fieldEnd + 1
    }
    if (field === header.length && openQuote === undefined) continue
    assertSeparator(bytes.toString('utf8', lineAt, at - 1), options, row)
    assertNoCommaInNumber(bytes.toString('utf8', lineAt, at - 1), lineOf(row, options))
    if (field === header.length && openQuote !== undefined)
      throw quoteLeftOpen(openQuote, options, row)
    throw wrongLength(field, options, row)
  }
  return new Map(names.map((name, index) => [name, columns[index] as Float64Array]))
}

function hasOpenQuote(cell: string): boolean {
  return cell.replaceAll(/[^"]/g, '').length % 2 === 1
}

/** Fewer rows do not show how the last field of a row is written. */
const ROWS_LIKE_MIN = 10

/**
 * A truncated copy may end within its last field: without a line end, and with fewer decimals than
 * all rows before.
 * @throws Failure RECORDING_ROW_LENGTH
 */
function assertWholeEnd(
  bytes: Buffer,
  { from, end }: { readonly from: number; readonly end: number },
  options: CsvColumns,
): void {
  if (end < bytes.length || end === from) return
  const beginAt = Math.max(from, end - END_BYTES)
  const lines = bytes.toString('utf8', beginAt, end).split('\n')
  const last = lines.at(-1)
  const before = lines.slice(beginAt === from ? 0 : 1, -1)
  if (last === undefined || before.length < ROWS_LIKE_MIN) return
  const decimals = new Set(before.map((line) => /\.(\d+)"?\r?$/.exec(line)?.[1]?.length ?? 0))
  const [usual = 0] = decimals
  const found = /\.(\d*)$/.exec(last)?.[1]?.length ?? 0
  if (decimals.size > 1 || usual < 2 || found >= usual) return
  const row = countLines(bytes, from, end) - 1
  throw new Failure({
    code: 'RECORDING_ROW_LENGTH',
    sentence: 'the last row ends in the middle of a number',
    facts: { where: lineOf(row, options), found: last.slice(-40) },
    hint: 'the copy is incomplete: remove the row, or copy the file again',
  })
}

const END_BYTES = 4096

function quoteLeftOpen(cell: string, options: CsvColumns, row: number): Failure {
  return new Failure({
    code: 'RECORDING_NOT_NUMERIC',
    sentence: 'a quotation mark is opened and not closed',
    facts: { where: lineOf(row, options), found: cell.trim().slice(0, 40) },
    hint: 'correct the line, or download the file again',
  })
}

/** A spreadsheet that shows 1.74882E+12 has saved no more digits. */
function roundedTime(cell: string, options: CsvColumns, row: number): Failure {
  return new Failure({
    code: 'RECORDING_NOT_NUMERIC',
    sentence: 'the time was rounded by the program that wrote the file',
    facts: { where: lineOf(row, options), found: cell.slice(0, 40) },
    hint: 'the rest of it is lost: download the file again, and in a spreadsheet format the column as a number without decimals before saving',
  })
}

function lineOf(row: number, { source, firstLine = 2 }: CsvColumns): string {
  return `${source}:${row + firstLine}`
}

function endOfRows(bytes: Buffer, from: number): number {
  let end = bytes.length
  while (end > from && (bytes[end - 1] as number) <= 32) end--
  return end
}

function countLines(bytes: Buffer, from: number, end: number): number {
  if (end === from) return 0
  let lines = 1
  for (
    let at = bytes.indexOf(LINE_FEED, from);
    at >= 0 && at < end;
    at = bytes.indexOf(LINE_FEED, at + 1)
  )
    lines++
  return lines
}

interface FieldRange {
  readonly at: number
  readonly end: number
  readonly separator: number
}

function endOfField(bytes: Buffer, { at: from, end, separator }: FieldRange): number {
  let at = from
  while (at < end && bytes[at] !== separator && bytes[at] !== LINE_FEED) at++
  return at
}

/** @returns -1 if it is not a plain number */
function plainNumber(bytes: Buffer, from: number, fieldEnd: number): number {
  const end = bytes[fieldEnd - 1] === CARRIAGE_RETURN ? fieldEnd - 1 : fieldEnd
  let whole = 0
  let dotAt = end
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= ZERO && byte <= NINE) whole = whole * 10 + byte - ZERO
    else if (byte === DOT && dotAt === end && at > from) dotAt = at
    else return -1
  }
  if (end === from || end - from > DIGITS_MAX) return -1
  return dotAt === end ? whole : whole / (POWERS_OF_TEN[end - dotAt - 1] as number)
}

function otherNumber(
  text: string,
  cell: {
    readonly options: CsvColumns
    readonly field: number
    readonly row: number
    readonly isText: boolean
  },
): number {
  const { options, field, row } = cell
  const trimmed = unquote(text)
  const name = options.header[field] ?? ''
  if (!cell.isText && PLAIN_NUMBER.test(trimmed)) {
    if (options.times?.includes(name) === true && /e/i.test(trimmed))
      throw roundedTime(trimmed, options, row)
    return Number(trimmed)
  }
  const meant = options.readText?.(trimmed, name)
  if (meant !== undefined) return meant
  if (field === 0) assertSeparator(text, options, row)
  throw new Failure({
    code: 'RECORDING_NOT_NUMERIC',
    sentence: `${name} is not a number`,
    facts: { where: lineOf(row, options), found: `"${trimmed.slice(0, 40)}"` },
    hint: options.hintFor?.(name) ?? PLAIN_HINT,
  })
}

/** @throws Failure RECORDING_SEPARATOR if the row has another separator than the header */
function assertSeparator(text: string, options: CsvColumns, row: number): void {
  const { separator, header } = options
  const other = SEPARATORS.find(
    (one) => one !== separator && text.split(one).length === header.length,
  )
  if (other === undefined || header.length < 2) return
  const [theirs, ours] = [other, separator].map((one) => (one === '\t' ? 'a tab' : `"${one}"`))
  throw new Failure({
    code: 'RECORDING_SEPARATOR',
    sentence: `the fields of the row are separated by ${theirs}, those of the header by ${ours}`,
    facts: { where: lineOf(row, options), found: text.trim().slice(0, 60) },
    hint: `write the same separator in the header and in the rows: export the file again, or replace ${ours} in the header by ${theirs}`,
  })
}

function unquote(cell: string): string {
  return cell.trim().replaceAll(/^"|"$/g, '').trim()
}

function wrongLength(fields: number, options: CsvColumns, row: number): Failure {
  return new Failure({
    code: 'RECORDING_ROW_LENGTH',
    sentence: 'the row does not have as many fields as the header',
    facts: {
      where: lineOf(row, options),
      found: `${fields} fields instead of ${options.header.length}`,
    },
    hint:
      fields > options.header.length
        ? `a comma inside a field counts as the end of it: ${PLAIN_HINT}`
        : 'a last row that is cut short means an incomplete copy: remove the row, or copy the file again',
  })
}
