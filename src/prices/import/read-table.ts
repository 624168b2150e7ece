import { Buffer } from 'node:buffer'
import { Failure, messageOf } from '../../lib/failure.ts'
import { assertNoCommaInNumber, findBegin, readCsvColumns } from '../csv-columns.ts'
import { readInstrumentName } from '../instrument-name.ts'
import { isPriceFile, parsePriceFile } from '../price-file.ts'
import { type Field, FIELDS, toColumns } from '../recording.ts'
import { chooseBaseVolume } from './base-volume.ts'
import { predicted } from './clean-funding.ts'
import {
  type CsvShape,
  findShape,
  type ShapeField,
  type ShapeGap,
  type ShapeKind,
} from './csv-shape.ts'
import {
  findDisorder,
  findRows,
  pickRows,
  type PriceTable,
  sortByTime,
  type Trades,
} from './price-table.ts'
import { parseClock, parseDate, parseZone, TIME_HINT, toUnixMs } from '../times.ts'
import { toCandles } from './trade-candles.ts'
import type { PackedFile } from './zip-entries.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13]
const SHAPES_HINT =
  'docs/data.md lists what is read; a CSV may have the header ts_ms,open,high,low,close,volume'
const VOLUME_HINT =
  'orders are filled from a share of the volume, so none is assumed: export the file with its volume in the base coin, or add a column volume with what you assume'
const TEXT_FIELDS: readonly ShapeField[] = ['instrument', 'exchange', 'zone']
/** A float holds every number of so many digits. */
const ID_DIGITS = /^\d{1,15}$/
/** All exchanges together have some thousands of instruments. */
const TEXTS_MAX = 20_000

/**
 * Tables are in the order of appearance. @throws Failure IMPORT_SHAPE_UNKNOWN, IMPORT_JSON_UNREADABLE,
 * IMPORT_VOLUME_UNCLEAR, IMPORT_COLUMNS_DIFFER, IMPORT_ZONE_UNKNOWN, IMPORT_FUNDING_PREDICTED,
 * RECORDING_EMPTY, RECORDING_ROW_LENGTH, RECORDING_NOT_NUMERIC, RECORDING_TIME_UNIT, and those of
 * {@link parsePriceFile}
 */
export function readTables({ name, bytes }: PackedFile, now: number): readonly PriceTable[] {
  if (isPriceFile(bytes)) return [readPriceFile({ name, bytes })]
  const text = beginOf(bytes, 0)
  assertPlainText(bytes, name)
  if (text.trim() === '') throw empty(name, 'the file is empty')
  return /^\s*[[{]/.test(text) ? readJson({ name, bytes }, now) : readCsv({ name, bytes }, now)
}

function assertPlainText(bytes: Buffer, name: string): void {
  const begin = bytes.subarray(0, 4096)
  if (begin.includes(0))
    throw unknownShape(
      name,
      'text in UTF-16, or no text: save it as UTF-8, which a spreadsheet calls CSV UTF-8',
    )
  if (!begin.includes(LINE_FEED) && begin.includes(CARRIAGE_RETURN))
    throw unknownShape(
      name,
      'lines that end in a carriage return alone: save it with ends of line of Unix or Windows',
    )
}

function beginOf(bytes: Buffer, from: number): string {
  return bytes.toString('utf8', from, from + 4096).replace(/^\uFEFF/, '')
}

function readPriceFile({ name, bytes }: PackedFile): PriceTable {
  const { rows, intervalMs, symbol, madeUp } = parsePriceFile({ bytes, source: name })
  const columns = new Map(toColumns(rows).map(({ field, numbers }) => [field, numbers]))
  return {
    kind: rows.kind,
    source: name,
    instrument: symbol,
    isPriceFile: true,
    ...(madeUp && { madeUp }),
    columns,
    ...(intervalMs !== undefined && { intervalMs }),
    whereOf: (row) => `${name}, row ${row + 1}`,
  }
}

function readCsv({ name, bytes }: PackedFile, now: number): readonly PriceTable[] {
  const begin = findBegin(bytes)
  const [line = '', nextLine = ''] = beginOf(bytes, begin.from).split('\n', 2)
  assertNoCommaInNumber(line, `${name}:${begin.line}`)
  const shape = findShape(line, nextLine)
  if ('missing' in shape)
    throw unknownShape(`${name}:${begin.line}`, line.trim().slice(0, 60), shape)
  const next = shape.titles.get('nextFunding')
  if (next !== undefined) throw predicted(`${name}:${begin.line}`, `a column ${next}`)
  const firstLine = begin.line + (shape.hasHeader ? 1 : 0)
  const from = shape.hasHeader
    ? bytes.indexOf(LINE_FEED, begin.from) + 1 || bytes.length
    : begin.from
  const texts = new TextNumbers()
  const columns = readCsvColumns(bytes, {
    separator: shape.separator,
    header: shape.columns,
    names: [...shape.fields, ...shape.twins.keys()],
    texts: [...TEXT_FIELDS, 'id'],
    times: ['at'],
    from,
    firstLine,
    source: name,
    readText: (text, column) =>
      readText(text, shape.twins.get(column) ?? (column as ShapeField), texts),
    hintFor: (column) => (column === 'at' || column === 'clock' ? TIME_HINT : undefined),
  }) as ShapeColumns
  assertSameTwins(shape, columns, (row) => `${name}:${row + firstLine}`)
  if (columns.get('at')?.length === 0)
    throw empty(`${name}:${firstLine}`, 'there is no row below the header')
  return toTables(shape, columns, {
    source: name,
    texts,
    now,
    whereOf: (row) => `${name}:${row + firstLine}`,
  })
}

/** If two such columns differ, neither is known to be right. */
function assertSameTwins(
  { twins, titles }: CsvShape,
  columns: ReadonlyMap<string, Float64Array>,
  whereOf: (row: number) => string,
): void {
  for (const [twin, field] of twins) {
    const [own, other] = [columns.get(field) as Float64Array, columns.get(twin) as Float64Array]
    const row = own.findIndex((number, index) => !Object.is(number, other[index]))
    if (row < 0) continue
    throw new Failure({
      code: 'IMPORT_COLUMNS_DIFFER',
      sentence: 'two columns mean the same and have different values',
      facts: {
        where: whereOf(row),
        [titles.get(field) ?? field]: String(own[row]),
        [twin]: String(other[row]),
      },
      hint: 'remove or rename the one that is not meant',
    })
  }
}

function readText(text: string, field: ShapeField, texts: TextNumbers): number | undefined {
  if (field === 'at') return parseDate(text)
  if (field === 'clock') return parseClock(text)
  if (field === 'id') return numberOfId(text)
  if (field === 'confirm' && /^(true|false)$/i.test(text))
    return text.toLowerCase() === 'true' ? 1 : 0
  if (field === 'periodHours' && text === '') return Number.NaN
  if (field === 'fundingRate' && /^[+-]?\d+(\.\d+)? ?%$/.test(text))
    return Number.parseFloat(text) / 100
  return TEXT_FIELDS.includes(field) ? texts.numberOf(text) : undefined
}

/**
 * An id that is no number, or has more digits than a float holds, becomes a negative hash; a
 * missing one NaN.
 */
function numberOfId(text: string): number {
  if (ID_DIGITS.test(text)) return Number(text)
  if (text === '') return Number.NaN
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return -((high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0) + 1)
}

class TextNumbers {
  readonly texts: string[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(text: string): number | undefined {
    const known = this.#numbers.get(text)
    if (known !== undefined || this.texts.length >= TEXTS_MAX) return known
    this.#numbers.set(text, this.texts.length)
    return this.texts.push(text) - 1
  }
}

type ShapeColumns = ReadonlyMap<ShapeField, Float64Array>

interface ReadFile extends Pick<PriceTable, 'source' | 'whereOf'> {
  readonly texts: TextNumbers
  readonly now: number
}

function toTables(
  shape: Pick<CsvShape, 'kind' | 'isByClose' | 'titles'> &
    Partial<Pick<CsvShape, 'hasHeader' | 'hasSide'>>,
  read: ShapeColumns,
  file: ReadFile,
): readonly PriceTable[] {
  const isSigned =
    shape.kind === 'trades' && shape.hasSide === false && hasBothSigns(read.get('size'))
  const columns = isSigned ? withoutSigns(read) : read
  const at = columns.get('at')
  if (!at || at.length === 0) throw empty(file.source, 'the file has no rows')
  const clock = columns.get('clock')
  if (clock)
    for (let row = 0; row < at.length; row++) at[row] = (at[row] as number) + (clock[row] as number)
  toUnixMs(at, file.whereOf, file.now)
  const zones = columns.get('zone')
  if (zones)
    for (let row = 0; row < at.length; row++)
      at[row] = (at[row] as number) - zoneMsOf(zones, row, file)
  return splitRows(columns, file).map(({ rows, named }) => {
    const isAll = rows.length === at.length
    const whereOf = (row: number) => file.whereOf(rows[row] as number)
    const own = isAll ? columns : pickRows(columns, rows)
    const table = toTable(shape, own, {
      source: file.source,
      whereOf: isAll ? file.whereOf : whereOf,
    })
    const isByPlace = shape.kind === 'candles' && shape.hasHeader === false
    const sold = `sizes below zero of ${shape.titles.get('size')} are sells of that size`
    const remarks = isSigned ? [...(table.remarks ?? []), sold] : table.remarks
    return { ...table, ...named, ...(remarks && { remarks }), ...(isByPlace && { isByPlace }) }
  })
}

/** Bitfinex writes sells as negative amounts. */
function hasBothSigns(sizes: Float64Array | undefined): boolean {
  return sizes?.some((size) => size < 0) === true && sizes.some((size) => size > 0)
}

function withoutSigns(columns: ShapeColumns): ShapeColumns {
  const sizes: readonly ShapeField[] = ['size', 'quoteVolume', 'coinVolume']
  return new Map(
    [...columns].map(([field, numbers]) => [
      field,
      sizes.includes(field) ? numbers.map(Math.abs) : numbers,
    ]),
  )
}

function zoneMsOf(
  zones: Float64Array,
  row: number,
  { texts: { texts }, whereOf }: ReadFile,
): number {
  const text = texts[zones[row] as number] ?? ''
  const zoneMs = text === '' ? 0 : parseZone(text)
  if (zoneMs !== undefined) return zoneMs
  throw new Failure({
    code: 'IMPORT_ZONE_UNKNOWN',
    sentence: 'a column says another time zone than UTC, and not how far it is from UTC',
    facts: { where: whereOf(row), found: text.slice(0, 40) },
    hint: 'write the offset of each row there (+02:00), which changes with daylight saving time, or the times in UTC',
  })
}

function splitRows(columns: ShapeColumns, { texts: { texts }, whereOf }: ReadFile) {
  const [instruments, exchanges] = [columns.get('instrument'), columns.get('exchange')]
  const length = columns.get('at')?.length ?? 0
  const groups = new Map<number, number[]>()
  for (let row = 0; row < length; row++) {
    const key = (instruments?.[row] ?? 0) * TEXTS_MAX + (exchanges?.[row] ?? 0)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return [...groups].map(([key, group]) => {
    const instrument = instruments && texts[Math.floor(key / TEXTS_MAX)]
    const exchange = exchanges && texts[key % TEXTS_MAX]
    if (instrument === '') throw empty(whereOf(group[0] as number), 'the row names no instrument')
    return {
      rows: Uint32Array.from(group),
      named: {
        ...(instrument !== undefined && { instrument }),
        ...(exchange !== undefined && { exchange }),
      },
    }
  })
}

function toTable(
  { kind, isByClose, titles }: Pick<CsvShape, 'kind' | 'isByClose' | 'titles'>,
  columns: ShapeColumns,
  file: Pick<PriceTable, 'source' | 'whereOf'>,
): PriceTable {
  if (kind === 'quotes') return inTimeOrder({ kind, columns: withoutTexts(columns, kind), ...file })
  if (kind === 'funding') {
    const periodHours = columns.get('periodHours')
    return {
      kind,
      columns: withoutTexts(columns, kind),
      ...(periodHours && { periodHours }),
      ...file,
    }
  }
  if (kind === 'candles' && columns.get('confirm')?.includes(0) === true)
    return withoutUnfinished({ isByClose, titles }, columns, file)
  const { numbers, from } = baseVolumeOf(kind, columns, file)
  const field = from === 'quote' ? 'quoteVolume' : 'coinVolume'
  const remarks =
    from === 'volume'
      ? []
      : [`volume from ${titles.get(field) ?? 'its eighth column'}: the other one counts contracts`]
  if (kind === 'trades') {
    const trades = { ...Object.fromEntries(columns), size: numbers } as unknown as Trades
    return { ...toCandles(trades, file), remarks }
  }
  const own = new Map([...withoutTexts(columns, kind), ['volume', numbers]] as [
    Field,
    Float64Array,
  ][])
  return { kind, isByClose, columns: own, remarks, ...file }
}

/** The last candle of a download may be unfinished. */
function withoutUnfinished(
  shape: Pick<CsvShape, 'isByClose' | 'titles'>,
  columns: ShapeColumns,
  file: Pick<PriceTable, 'source' | 'whereOf'>,
): PriceTable {
  const confirm = columns.get('confirm') as Float64Array
  const rows = Uint32Array.from(confirm, (_, row) => row).filter((row) => confirm[row] !== 0)
  const { count, first = '' } = findRows(confirm.length, (row) => confirm[row] === 0, file.whereOf)
  if (rows.length === 0) throw empty(file.source, 'no candle in it had ended')
  const whereOf = (row: number) => file.whereOf(rows[row] as number)
  const table = toTable({ kind: 'candles', ...shape }, pickRows(columns, rows), {
    ...file,
    whereOf,
  })
  const remark = `candles that had not ended were dropped (${shape.titles.get('confirm')} 0): ${count}, the first ${first}`
  return { ...table, remarks: [...(table.remarks ?? []), remark] }
}

function baseVolumeOf(
  kind: 'candles' | 'trades',
  columns: ShapeColumns,
  { source }: Pick<PriceTable, 'source'>,
) {
  const column = (field: ShapeField) => columns.get(field) as Float64Array
  const [volume, price, high, low] = [
    column('volume'),
    column('price'),
    column('high'),
    column('low'),
  ]
  const isTrades = kind === 'trades'
  const sizes = {
    volume: isTrades ? column('size') : volume,
    quote: columns.get('quoteVolume'),
    coin: columns.get('coinVolume'),
    ticks: columns.get('tickVolume'),
    price: (row: number) =>
      isTrades ? (price[row] as number) : ((high[row] as number) + (low[row] as number)) / 2,
  }
  if (isTrades && sizes.quote === undefined && readInstrumentName(source).countsContracts)
    throw new Failure({
      code: 'IMPORT_VOLUME_UNCLEAR',
      sentence: 'the sizes of these trades count contracts, and not coins',
      facts: { where: source },
      hint: 'take its candles, which have the volume in coins too; or add a column `base_qty` with contracts times their size',
    })
  return chooseBaseVolume(sizes, source)
}

const FIELDS_OF_KIND: Readonly<Record<Exclude<ShapeKind, 'trades'>, readonly Field[]>> = {
  candles: [...FIELDS.candles.required, ...FIELDS.candles.optional],
  quotes: [...FIELDS.quotes.required, ...FIELDS.quotes.optional],
  funding: ['at', 'fundingRate'],
}

function withoutTexts(
  columns: ShapeColumns,
  kind: Exclude<ShapeKind, 'trades'>,
): ReadonlyMap<Field, Float64Array> {
  return new Map(
    FIELDS_OF_KIND[kind].flatMap((field) => {
      const numbers = columns.get(field)
      return numbers ? [[field, numbers] as const] : []
    }),
  )
}

/** Quotes of one time keep their order, also in a file that runs backwards. */
function inTimeOrder(table: PriceTable): PriceTable {
  const at = table.columns.get('at') as Float64Array
  const disorder = findDisorder(at, table.whereOf)
  if (disorder.count === 0) return table
  const order = sortByTime(
    Uint32Array.from(at, (_, row) => row),
    at,
  )
  return {
    ...table,
    disorder,
    columns: pickRows(table.columns, order),
    whereOf: (row) => table.whereOf(order[row] as number),
  }
}

/**
 * Candles of freqtrade are `[time, open, high, low, close, volume]`, with its funding rates in
 * place of the open. An exchange's answer about funding has an object for each payment.
 */
function readJson({ name, bytes }: PackedFile, now: number): readonly PriceTable[] {
  const whereOf = (row: number) => `${name}, row ${row + 1}`
  const file = { source: name, whereOf, now, texts: new TextNumbers() }
  const list = listIn(parseJson(name, bytes))
  if (list === undefined) throw unknownShape(name, 'JSON that is no list')
  if (list.length > 0 && list.every(isFunding)) return readFunding(list, file)
  const fields = FIELDS.candles.required
  const columns = new Map(fields.map((field) => [field, new Float64Array(list.length)]))
  for (const [row, candle] of list.entries()) {
    const isCandle = Array.isArray(candle) && candle.length === fields.length
    if (!isCandle || !candle.every((number) => typeof number === 'number'))
      throw unknownShape(whereOf(row), JSON.stringify(candle).slice(0, 60))
    for (const [place, field] of fields.entries())
      (columns.get(field) as Float64Array)[row] = candle[place] as number
  }
  const common = { isByClose: false, titles: new Map() }
  if (!name.includes('funding_rate')) return toTables({ kind: 'candles', ...common }, columns, file)
  const rates = new Map([
    ['at', columns.get('at') as Float64Array],
    ['fundingRate', columns.get('open') as Float64Array],
  ] as const)
  return toTables({ kind: 'funding', ...common }, rates, file)
}

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[]
  if (typeof value !== 'object' || value === null) return undefined
  const { data, result, list } = value as Readonly<Record<string, unknown>>
  return listIn(data ?? result ?? list)
}

const isFunding = (row: unknown): row is Readonly<Record<string, unknown>> =>
  typeof row === 'object' && row !== null && ('fundingRate' in row || 'realizedRate' in row)

function readFunding(
  list: readonly Readonly<Record<string, unknown>>[],
  { source, now, whereOf }: ReadFile,
): readonly PriceTable[] {
  const names = Object.keys(list[0] ?? {})
  const lines = list.map((row) => names.map((name) => textOf(row[name])).join(','))
  const bytes = Buffer.from([names.join(','), ...lines].join('\n'))
  return readCsv({ name: source, bytes }, now).map((table) => ({ ...table, whereOf }))
}

const textOf = (cell: unknown) =>
  typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''

function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return parseBoundedJson(bytes.toString('utf8').replace(/^\uFEFF/, ''))
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

function unknownShape(where: string, found: string, gap?: ShapeGap): Failure {
  return new Failure({
    code: 'IMPORT_SHAPE_UNKNOWN',
    sentence: 'the file has no known format of prices',
    facts: { where, found, ...(gap && { missing: `${gap.missing.join(', ')}, for ${gap.kind}` }) },
    hint:
      gap?.kind === 'candles' && gap.missing.some((one) => /volume/.test(one))
        ? VOLUME_HINT
        : SHAPES_HINT,
  })
}

function empty(where: string, sentence: string): Failure {
  return new Failure({ code: 'RECORDING_EMPTY', sentence, facts: { where }, hint: SHAPES_HINT })
}
