/** Reads a recording out of a CSV with a header, of candles or of quotes. */
import { createHash } from 'node:crypto'
import { Failure } from '../lib/failure.ts'
import { assertRows } from './check-rows.ts'
import { findBegin, readCsvColumns, separatorOf, splitCells } from './csv-columns.ts'
import { takeOutPayments } from './funding.ts'
import { type Field, FIELDS, type Recording, toRows } from './recording.ts'

const LINE_FEED = 10

/** Names of columns in a CSV, in small letters, where they are others than those of the fields. */
const CSV_NAMES: Readonly<Partial<Record<Field, string>>> = {
  at: 'ts_ms',
  bidSize: 'bidsz',
  askSize: 'asksz',
  fundingRate: 'fundingrate',
}
const HEADERS_HINT =
  'the first line must be ts_ms,open,high,low,close,volume or ts_ms,bid,ask,bidSz,askSz,last[,volume]; both may have mark and fundingRate; `intentd import` reads other shapes'

/** The column of a CSV that a field stands in, in small letters. */
function csvNameOf(field: Field): string {
  return CSV_NAMES[field] ?? field
}

/**
 * Reads a recording from its bytes, UTF-8.
 *
 * @param source The file's name, for messages and, without `symbol`, for the symbol.
 * @throws Failure RECORDING_SYMBOL_MISSING, RECORDING_EMPTY, RECORDING_HEADER_UNKNOWN, RECORDING_ROW_LENGTH,
 *   RECORDING_NOT_NUMERIC, and those of {@link assertRows}, each naming file:line.
 */
export function parseRecording(input: { bytes: Buffer; source: string; symbol?: string }): Recording {
  const { bytes, source } = input
  const symbol = input.symbol ?? symbolOf(source)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const begin = findBegin(bytes)
  const lineFeedAt = bytes.indexOf(LINE_FEED, begin.from)
  const headerEnd = lineFeedAt < 0 ? bytes.length : lineFeedAt
  const firstLine = begin.line + 1
  const line = bytes.toString('utf8', begin.from, headerEnd).replace(/^\uFEFF/, '')
  if (bytes.length === 0) throw emptyRecording(source, 'the file is empty')
  if (line.trim() === '') throw emptyRecording(`${source}:${begin.line}`, 'the line of the header is empty')
  const separator = separatorOf(line)
  const header = splitCells(line, separator).map((name) => name.toLowerCase())
  const kind = kindOf(header)
  if (kind === undefined) {
    throw new Failure({
      code: 'RECORDING_HEADER_UNKNOWN',
      sentence: 'the header is neither that of candles nor that of quotes',
      facts: { where: `${source}:${begin.line}`, found: line.trim().slice(0, 80) },
      hint: HEADERS_HINT,
    })
  }
  const { required, optional } = FIELDS[kind]
  const fields = [...required, ...optional.filter((field) => header.includes(csvNameOf(field)))]
  const columns = readCsvColumns(bytes, {
    ...{ separator, header, names: fields.map(csvNameOf), source },
    ...{ from: headerEnd + 1, firstLine },
    // A rate in some rows alone: they are the payments.
    readText: (text, name) => (text === '' && name === CSV_NAMES.fundingRate ? Number.NaN : undefined),
  })
  if (columns.get('ts_ms')?.length === 0)
    throw emptyRecording(`${source}:${firstLine}`, 'there is no row below the header')
  const rows = toRows(
    kind,
    new Map(fields.map((field) => [field, columns.get(csvNameOf(field)) as Float64Array])),
  )
  const whereOf = (row: number): string => `${source}:${row + firstLine}`
  assertRows(rows, whereOf)
  return { symbol, source, sha256, ...takeOutPayments(rows, source, whereOf) }
}

/** @param source The file's name. @throws Failure RECORDING_SYMBOL_MISSING */
export function symbolOf(source: string): string {
  const [symbol] = /^[A-Z]+/.exec(source) ?? []
  if (symbol !== undefined) return symbol
  throw new Failure({
    code: 'RECORDING_SYMBOL_MISSING',
    sentence: 'the file name does not begin with a symbol',
    facts: { where: source },
    hint: `name the symbol: BTCUSDT=${source}`,
  })
}

function kindOf(header: readonly string[]): keyof typeof FIELDS | undefined {
  const kinds = ['candles', 'quotes'] as const
  return kinds.find((kind) => FIELDS[kind].required.every((field) => header.includes(csvNameOf(field))))
}

function emptyRecording(where: string, sentence: string): Failure {
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence,
    facts: { where },
    hint: HEADERS_HINT,
  })
}
