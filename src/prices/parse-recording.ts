import { createHash } from 'node:crypto'
import { Failure } from '../lib/failure.ts'
import { assertRows } from './check-rows.ts'
import { assertOneInterval, shortOfClose } from './candle-times.ts'
import {
  findBegin,
  readCsvColumns,
  type Separator,
  separatorOf,
  splitCells,
} from './csv-columns.ts'
import { takeOutPayments } from './funding.ts'
import { isZip } from './import/zip-entries.ts'
import {
  agreesWithSymbol,
  INSTRUMENT_COLUMNS,
  plainTitle,
  readInstrumentName,
} from './instrument-name.ts'
import { candleLength, type Field, FIELDS, type Recording, toRows } from './recording.ts'

const LINE_FEED = 10

const CSV_NAMES: Readonly<Partial<Record<Field, string>>> = {
  at: 'ts_ms',
  bidSize: 'bidsz',
  askSize: 'asksz',
  fundingRate: 'fundingrate',
}
const HEADERS_HINT =
  'the first line must be ts_ms,open,high,low,close,volume or ts_ms,bid,ask,bidSz,askSz,last[,volume]; both may have mark and fundingRate; `intentd import` reads other shapes'

function csvNameOf(field: Field): string {
  return CSV_NAMES[field] ?? field
}

/**
 * @param source for messages and, without `symbol`, for the symbol
 * @throws Failure RECORDING_SYMBOL_MISSING, RECORDING_SYMBOLS_DIFFER, RECORDING_EMPTY,
 * RECORDING_HEADER_UNKNOWN, RECORDING_ROW_LENGTH, RECORDING_NOT_NUMERIC, RECORDING_TIME_CLOSE,
 * RECORDING_INTERVAL_CHANGES, and those of {@link assertRows}, each naming file:line.
 */
export function parseRecording(input: {
  bytes: Buffer
  source: string
  symbol?: string
}): Recording {
  const { bytes, source } = input
  const symbol = input.symbol ?? symbolOf(source)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { separator, header, kind, from, firstLine } = readHeader(bytes, source)
  const { required, optional } = FIELDS[kind]
  const fields = [...required, ...optional.filter((field) => header.includes(csvNameOf(field)))]
  const texts = instrumentColumn(header)
  const instruments = new Set<string>()
  const columns = readCsvColumns(bytes, {
    separator,
    header,
    names: [...fields.map(csvNameOf), ...texts],
    source,
    texts,
    times: [csvNameOf('at')],
    from,
    firstLine,
    readText: (text, name) => {
      if (texts.includes(name)) return instruments.add(text).size
      return text === '' && name === CSV_NAMES.fundingRate ? Number.NaN : undefined
    },
  })
  assertOneInstrument({ source, instruments, ...(input.symbol === undefined && { symbol }) })
  if (columns.get('ts_ms')?.length === 0)
    throw emptyRecording(`${source}:${firstLine}`, 'there is no row below the header')
  const rows = toRows(
    kind,
    new Map(fields.map((field) => [field, columns.get(csvNameOf(field)) as Float64Array])),
  )
  const whereOf = (row: number) => `${source}:${row + firstLine}`
  assertRows(rows, whereOf)
  if (rows.kind === 'candles') assertOpenTimes(rows.at, whereOf)
  return { symbol, source, sha256, ...takeOutPayments(rows, source, whereOf) }
}

interface RecordingHeader {
  readonly separator: Separator
  readonly header: readonly string[]
  readonly kind: keyof typeof FIELDS
  /** The place of the first row, in bytes. */
  readonly from: number
  readonly firstLine: number
}

function readHeader(bytes: Buffer, source: string): RecordingHeader {
  const begin = findBegin(bytes)
  const lineFeedAt = bytes.indexOf(LINE_FEED, begin.from)
  const headerEnd = lineFeedAt < 0 ? bytes.length : lineFeedAt
  const line = bytes.toString('utf8', begin.from, headerEnd).replace(/^\uFEFF/, '')
  if (bytes.length === 0) throw emptyRecording(source, 'the file is empty')
  if (line.trim() === '')
    throw emptyRecording(`${source}:${begin.line}`, 'the line of the header is empty')
  const separator = separatorOf(line)
  const header = splitCells(line, separator).map((name) => name.toLowerCase())
  const kind = kindOf(header)
  if (kind !== undefined)
    return { separator, header, kind, from: headerEnd + 1, firstLine: begin.line + 1 }
  throw new Failure({
    code: 'RECORDING_HEADER_UNKNOWN',
    sentence: 'the header is neither that of candles nor that of quotes',
    facts: {
      where: `${source}:${begin.line}`,
      found: isZip(bytes) ? 'a zip' : line.trim().slice(0, 80),
      ...missingIn(header),
    },
    hint: HEADERS_HINT,
  })
}

function instrumentColumn(header: readonly string[]): readonly string[] {
  const titles = header.map(plainTitle)
  const name = INSTRUMENT_COLUMNS.find((candidate) => titles.includes(candidate))
  return name === undefined ? [] : [header[titles.indexOf(name)] as string]
}

function assertOneInstrument({
  source,
  symbol,
  instruments,
}: {
  readonly source: string
  readonly symbol?: string
  readonly instruments: ReadonlySet<string>
}): void {
  const [first = '', ...others] = instruments
  const isOther = symbol !== undefined && !agreesWithSymbol(first, symbol)
  if (others.length === 0 && !isOther) return
  throw new Failure({
    code: 'RECORDING_SYMBOLS_DIFFER',
    sentence: 'the file has prices of several instruments, or of another one than its name says',
    facts: {
      where: source,
      found: [...(isOther ? [symbol] : []), ...instruments].slice(0, 5).join(', '),
    },
    hint: '`intentd import` makes a file for each instrument; name a file after the one that is in it',
  })
}

function assertOpenTimes(at: Float64Array, whereOf: (row: number) => string): void {
  const intervalMs = candleLength(at)
  assertOneInterval(at, intervalMs, whereOf)
  if (shortOfClose(at, intervalMs) === 0) return
  throw new Failure({
    code: 'RECORDING_TIME_CLOSE',
    sentence: 'the times are those of the closes of the candles, and ts_ms is that of the open',
    facts: { where: whereOf(0), found: new Date(at[0] as number).toISOString() },
    hint: '`intentd import` makes them those of the opens',
  })
}

/** @throws Failure RECORDING_SYMBOL_MISSING */
export function symbolOf(source: string): string {
  const { symbol, why = '' } = readInstrumentName(source)
  if (symbol !== undefined) return symbol
  throw new Failure({
    code: 'RECORDING_SYMBOL_MISSING',
    sentence: 'the file name does not say for certain which instrument it is of',
    facts: { where: source, name: why },
    hint: `name the symbol: BTCUSDT=${source}`,
  })
}

function missingIn(header: readonly string[]): Readonly<Record<string, string>> {
  const gaps = (['candles', 'quotes'] as const).map((kind) => {
    const missing = FIELDS[kind].required.map(csvNameOf).filter((name) => !header.includes(name))
    return { kind, missing, share: missing.length / FIELDS[kind].required.length }
  })
  const [least] = gaps.toSorted((one, other) => one.share - other.share)
  if (least === undefined || least.share === 1) return {}
  return { missing: `${least.missing.join(', ')}, for ${least.kind}` }
}

function kindOf(header: readonly string[]): keyof typeof FIELDS | undefined {
  const kinds = ['candles', 'quotes'] as const
  return kinds.find((kind) =>
    FIELDS[kind].required.every((field) => header.includes(csvNameOf(field))),
  )
}

function emptyRecording(where: string, sentence: string): Failure {
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence,
    facts: { where },
    hint: HEADERS_HINT,
  })
}
