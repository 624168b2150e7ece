/** Rows of prices out of the contents of a file, whoever wrote it. */
import { Failure, messageOf } from '../../lib/failure.ts'
import { assertNoCommaInNumber, findBegin, readCsvColumns } from '../csv-columns.ts'
import { isPriceFile, parsePriceFile } from '../price-file.ts'
import { type Field, FIELDS, toColumns } from '../recording.ts'
import { type CsvShape, findShape } from './csv-shape.ts'
import type { PriceTable } from './price-table.ts'
import { parseDate, toUnixMs } from './times.ts'
import { toCandles, type Trades } from './trade-candles.ts'
import type { PackedFile } from './zip-entries.ts'

const LINE_FEED = 10
const SHAPES_HINT =
  'docs/data.md lists what is read; a CSV may have the header ts_ms,open,high,low,close,volume'

/**
 * @throws Failure IMPORT_SHAPE_UNKNOWN, IMPORT_JSON_UNREADABLE, RECORDING_EMPTY, RECORDING_ROW_LENGTH,
 *   RECORDING_NOT_NUMERIC, RECORDING_TIME_UNIT, and those of {@link parsePriceFile}
 */
export function readTable({ name, bytes }: PackedFile): PriceTable {
  if (isPriceFile(bytes)) return readPriceFile({ name, bytes })
  const text = beginOf(bytes, 0)
  if (text.trim() === '') throw empty(name, 'the file is empty')
  return text.trimStart().startsWith('[') ? readJson({ name, bytes }) : readCsv({ name, bytes })
}

/** Enough to tell what it is. */
function beginOf(bytes: Buffer, from: number): string {
  return bytes.toString('utf8', from, from + 4096).replace(/^\uFEFF/, '')
}

function readPriceFile({ name, bytes }: PackedFile): PriceTable {
  const { rows, intervalMs } = parsePriceFile({ bytes, source: name })
  const columns = new Map(toColumns(rows).map(({ field, numbers }) => [field, numbers]))
  const known = intervalMs === undefined ? {} : { intervalMs }
  return { kind: rows.kind, source: name, columns, ...known, whereOf: (row) => `${name}, row ${row + 1}` }
}

function readCsv({ name, bytes }: PackedFile): PriceTable {
  const begin = findBegin(bytes)
  const line = beginOf(bytes, begin.from).split('\n', 1)[0] ?? ''
  assertNoCommaInNumber(line, `${name}:${begin.line}`)
  const shape = findShape(line)
  if (!shape) throw unknownShape(`${name}:${begin.line}`, line.trim().slice(0, 60))
  const firstLine = begin.line + (shape.hasHeader ? 1 : 0)
  const from = shape.hasHeader ? bytes.indexOf(LINE_FEED, begin.from) + 1 || bytes.length : begin.from
  const columns = readCsvColumns(bytes, {
    ...{ separator: shape.separator, header: shape.columns, names: shape.fields },
    ...{ from, firstLine, source: name },
    readText: (text, column) => (column === 'at' ? parseDate(text) : undefined),
  }) as ReadonlyMap<CsvShape['fields'][number], Float64Array>
  if (columns.get('at')?.length === 0) throw empty(`${name}:${firstLine}`, 'there is no row below the header')
  return toTable(shape.kind, columns, { source: name, whereOf: (row) => `${name}:${row + firstLine}` })
}

function toTable(
  kind: CsvShape['kind'],
  columns: ReadonlyMap<CsvShape['fields'][number], Float64Array>,
  file: Pick<PriceTable, 'source' | 'whereOf'>,
): PriceTable {
  const at = columns.get('at')
  if (!at || at.length === 0) throw empty(file.source, 'the file has no rows')
  toUnixMs(at, file.whereOf)
  if (kind === 'trades') return toCandles(Object.fromEntries(columns) as unknown as Trades, file)
  return { kind, columns: columns as ReadonlyMap<Field, Float64Array>, ...file }
}

/** freqtrade's: a list of candles, `[time, open, high, low, close, volume]` each. */
function readJson({ name, bytes }: PackedFile): PriceTable {
  const whereOf = (row: number) => `${name}, row ${row + 1}`
  // Its files of funding rates have the same shape, with rates in place of prices.
  if (name.includes('funding_rate')) throw unknownShape(name, 'a file of funding rates')
  const list = parseList(name, bytes)
  const fields = FIELDS.candles.required
  const columns = new Map(fields.map((field) => [field, new Float64Array(list.length)]))
  for (const [row, candle] of list.entries()) {
    const isCandle = Array.isArray(candle) && candle.length === fields.length
    if (!isCandle || !candle.every((number) => typeof number === 'number'))
      throw unknownShape(whereOf(row), JSON.stringify(candle).slice(0, 60))
    for (const [place, field] of fields.entries())
      (columns.get(field) as Float64Array)[row] = candle[place] as number
  }
  return toTable('candles', columns, { source: name, whereOf })
}

function parseList(name: string, bytes: Buffer): readonly unknown[] {
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) as readonly unknown[]
  } catch (cause) {
    throw new Failure({
      code: 'IMPORT_JSON_UNREADABLE',
      sentence: 'the file begins like JSON, but is not JSON',
      facts: { file: name, problem: messageOf(cause).slice(0, 80) },
      hint: 'copy or download it again: it may end in the middle',
      cause,
    })
  }
}

function unknownShape(where: string, found: string): Failure {
  return new Failure({
    code: 'IMPORT_SHAPE_UNKNOWN',
    sentence: 'the file has no known format of prices',
    facts: { where, found },
    hint: SHAPES_HINT,
  })
}

function empty(where: string, sentence: string): Failure {
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence,
    facts: { where },
    hint: SHAPES_HINT,
  })
}
