import { Buffer } from 'node:buffer'
import { basename, join } from 'node:path'
import { Failure } from '../../lib/failure.ts'
import { formatFunding } from '../funding-file.ts'
import {
  agreesWithSymbol,
  type InstrumentName,
  isOfNoInstrument,
  readInstrumentName,
} from '../instrument-name.ts'
import { assertReadable, readPrices } from '../load-recording.ts'
import { buildPriceFile } from '../price-file.ts'
import type { Recording } from '../recording.ts'
import { nameInterval } from '../times.ts'
import { unpackGzip } from '../unpack-gzip.ts'
import { writeNewFile } from '../write-new-file.ts'
import { type CleanFunding, cleanFunding } from './clean-funding.ts'
import { type CleanRows, cleanTables } from './clean-tables.ts'
import { findInterval } from './gaps.ts'
import type { PriceTable } from './price-table.ts'
import { readTables } from './read-table.ts'
import { intervalOf } from './table-times.ts'
import { joinSeams } from './trade-candles.ts'
import { isPricesName, isZip, type PackedFile, unpackZip } from './zip-entries.ts'

/** Room for a day of all trades of the busiest instrument. */
const FILE_BYTES_MAX = 1024 * 1024 * 1024

export interface ImportOptions {
  readonly files: readonly string[]
  readonly directory: string
  /** Absent: columns and file names state the symbol. */
  readonly symbol?: string
  readonly market?: NonNullable<Recording['market']>
  /** Used if neither the files nor their names state the interval. */
  readonly intervalMs?: number
  readonly isStrict: boolean
  readonly isReplacing: boolean
  /** Prices later than tomorrow are refused. */
  readonly now: number
}

interface WrittenFile {
  readonly file: string
  readonly bytes: number
  readonly sha256?: string
}

export interface ImportedPrices extends CleanRows {
  readonly symbol: string
  readonly name: string
  readonly sources: readonly string[]
  readonly trades: number
  readonly madeUp?: true
  readonly written?: WrittenFile
}

export interface ImportedFunding extends CleanFunding {
  readonly symbol: string
  readonly name: 'funding'
  readonly sources: readonly string[]
  readonly written?: WrittenFile
}

/**
 * If all file names state the instrument, memory holds one instrument at a time. A strict import
 * reads files twice, since it must know what all times mean before it writes. @throws Failure
 * IMPORT_SYMBOL_UNKNOWN, IMPORT_SYMBOLS_DIFFER, IMPORT_MARKETS_DIFFER, IMPORT_EXCHANGES_DIFFER,
 * IMPORT_INTERVAL_DIFFERS, IMPORT_STAMPS_DIFFER, IMPORT_EXISTS, IMPORT_UNWRITABLE, and those of
 * {@link readTables}, {@link cleanTables}, {@link cleanFunding}
 */
export async function* importPrices(
  options: ImportOptions,
): AsyncGenerator<ImportedPrices | ImportedFunding> {
  await Promise.all(options.files.map(assertReadable))
  if (options.isStrict) await assertSameStamps(options)
  for await (const { symbol, groups, funding } of readInstruments(options)) {
    yield* writePrices(groups, { symbol, options })
    if (funding.length > 0) yield writeFunding(funding, { symbol, options })
  }
}

interface InstrumentTables {
  readonly symbol: string
  readonly groups: ReadonlyMap<number | undefined, readonly PriceTable[]>
  readonly funding: readonly PriceTable[]
}

async function* readInstruments(options: ImportOptions): AsyncGenerator<InstrumentTables> {
  for (const files of groupFiles(options)) {
    const tables: NamedTable[] = []
    for (const file of files) tables.push(...(await loadTables(file, options.now)))
    for (const [symbol, own] of groupByInstrument(tables, options)) {
      const prices = own.filter(({ kind }) => kind !== 'funding')
      const groups = groupByInterval(joinSeams(prices), options.intervalMs)
      yield { symbol, groups, funding: own.filter(({ kind }) => kind === 'funding') }
    }
  }
}

async function assertSameStamps(options: ImportOptions): Promise<void> {
  const stamps = new Map<boolean, string>()
  for await (const { symbol, groups } of readInstruments(options)) {
    for (const [intervalMs, tables] of groups) {
      if (intervalMs === undefined) continue
      const { isByClose } = cleanTables(tables, intervalMs)
      assertOneStamp({ symbol, isByClose }, stamps)
    }
  }
}

export function* writePrices(
  groups: ReadonlyMap<number | undefined, readonly PriceTable[]>,
  {
    symbol,
    options,
  }: {
    readonly symbol: string
    readonly options: Pick<ImportOptions, 'directory' | 'market' | 'isStrict' | 'isReplacing'>
  },
): Generator<ImportedPrices> {
  for (const [intervalMs, tables] of groups) {
    const clean = cleanTables(tables, intervalMs)
    const name = intervalMs === undefined ? 'quotes' : nameInterval(intervalMs)
    const sources = [...new Set(tables.map(({ source }) => source))]
    const trades = tables.reduce((sum, table) => sum + (table.trades?.count ?? 0), 0)
    const madeUp = tables.some((table) => table.madeUp) ? { madeUp: true as const } : {}
    const imported = { symbol, name, sources, trades, ...madeUp, ...clean }
    const isRefused = options.isStrict && !isClean(clean)
    yield isRefused ? imported : { ...imported, written: writePriceFile(imported, options) }
  }
}

/**
 * If some candles are stamped by open and others by close, some would be a candle off. @param
 * stamps one instrument for each kind of time so far
 */
function assertOneStamp(
  { symbol, isByClose }: Pick<ImportedPrices, 'symbol' | 'isByClose'>,
  stamps: Map<boolean, string>,
): void {
  stamps.set(isByClose, symbol)
  const other = stamps.get(!isByClose)
  if (other === undefined) return
  const [byClose, byOpen] = isByClose ? [symbol, other] : [other, symbol]
  throw new Failure({
    code: 'IMPORT_STAMPS_DIFFER',
    sentence:
      'candles of one instrument have the times of their closes, those of another the times of their opens',
    facts: { 'by close': byClose, 'by open': byOpen },
    hint: 'look at both; without --strict those by close get the times of their opens',
  })
}

function writeFunding(
  tables: readonly PriceTable[],
  {
    symbol,
    options,
  }: { readonly symbol: string; readonly options: WriteOptions & { isStrict: boolean } },
): ImportedFunding {
  const clean = cleanFunding(tables)
  const sources = [...new Set(tables.map(({ source }) => source))]
  const imported = { symbol, name: 'funding', sources, ...clean } as const
  if (options.isStrict && !isClean(clean)) return imported
  const bytes = Buffer.from(formatFunding({ symbol, ...clean }))
  const file = placeOf([symbol, options.market, 'funding'], 'csv', options)
  writeNewFile(file, bytes, options)
  return { ...imported, written: { file, bytes: bytes.length } }
}

export function isClean({
  findings,
  gaps,
}: Pick<ImportedPrices | ImportedFunding, 'findings' | 'gaps'>): boolean {
  return gaps.count === 0 && Object.values(findings).every(({ count }) => count === 0)
}

type WriteOptions = Pick<ImportOptions, 'directory' | 'market' | 'isReplacing'>

function writePriceFile(
  { symbol, name, sources, rows, intervalMs, madeUp }: Omit<ImportedPrices, 'written'>,
  options: WriteOptions,
): WrittenFile {
  const { market } = options
  const file = placeOf([symbol, market, name], 'prices', options)
  const known = { ...(intervalMs !== undefined && { intervalMs }), ...(madeUp && { madeUp }) }
  const bytes = buildPriceFile({ symbol, rows, sources, ...known, ...(market && { market }) })
  writeNewFile(file, bytes, options)
  return { file, bytes: bytes.length, sha256: bytes.toString('hex', bytes.length - 32) }
}

function placeOf(
  parts: readonly (string | undefined)[],
  extension: string,
  { directory }: WriteOptions,
): string {
  return join(directory, `${parts.filter((part) => part !== undefined).join('-')}.${extension}`)
}

async function loadTables(path: string, now: number): Promise<readonly NamedTable[]> {
  const packed = await readPrices(path)
  const limit = { path, bytesMax: FILE_BYTES_MAX }
  const own = readInstrumentName(basename(path))
  if (!isZip(packed)) {
    const bytes = await unpackGzip(packed, limit)
    return readTables({ name: basename(path), bytes }, now).map((table) => ({
      ...table,
      names: [own],
    }))
  }
  const entries = unpackZip(packed, limit)
  const files = entries.filter(({ name }) => isPricesName(name))
  if (files.length === 0) throw emptyZip(path, entries)
  const inner = files.find(({ bytes }) => isZip(bytes))
  if (inner) throw zipInZip(path, inner.name)
  const aside = entries.filter(({ name }) => !isPricesName(name)).map(({ name }) => name)
  const remarks = aside.length === 0 ? [] : [`left aside in ${basename(path)}: ${aside.join(', ')}`]
  return files.flatMap((file) =>
    readTables(file, now).map((table) => ({
      ...table,
      names: [own, readInstrumentName(basename(file.name))],
      remarks: [...(table.remarks ?? []), ...remarks],
    })),
  )
}

function emptyZip(path: string, entries: readonly PackedFile[]): Failure {
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence: 'the zip holds no file of prices',
    facts: { file: path, found: entries.map(({ name }) => name).join(', ') || 'nothing' },
    hint: 'unpack it and look at it, or download it again',
  })
}

function zipInZip(path: string, name: string): Failure {
  return new Failure({
    code: 'RECORDING_ZIP_UNSUPPORTED',
    sentence: 'there is a zip in the zip',
    facts: { file: path, name },
    hint: 'unpack the outer one, and import the zips in it',
  })
}

/** Files with one candle each show their interval only together. */
function findCommonInterval(tables: readonly PriceTable[]): number | undefined {
  const candles = tables.filter(({ kind }) => kind === 'candles')
  const times = candles.flatMap(({ columns }) => [...(columns.get('at') as Float64Array)])
  return findInterval(Float64Array.from(times).sort())
}

function intervalUnknown({ source }: PriceTable): Failure {
  return new Failure({
    code: 'IMPORT_INTERVAL_UNKNOWN',
    sentence: 'one candle does not say how long it is',
    facts: { file: source },
    hint: 'give it (--interval 1h), name it in the name of the file, such as BTCUSDT-1h.csv, or import the file together with others',
  })
}

function groupByInterval(
  tables: readonly PriceTable[],
  given: number | undefined,
): ReadonlyMap<number | undefined, readonly PriceTable[]> {
  const steps = tables.map((table) =>
    table.kind === 'quotes' ? undefined : intervalOf(table, given),
  )
  const known = steps.find((step) => step !== undefined) ?? findCommonInterval(tables)
  const groups = new Map<number | undefined, PriceTable[]>()
  for (const [index, table] of tables.entries()) {
    if (table.kind !== 'quotes' && (steps[index] ?? known) === undefined)
      throw intervalUnknown(table)
    const intervalMs = table.kind === 'quotes' ? undefined : (steps[index] ?? known)
    groups.set(intervalMs, [...(groups.get(intervalMs) ?? []), table])
  }
  return groups
}

interface NamedTable extends PriceTable {
  readonly names: readonly InstrumentName[]
}

interface InstrumentOptions {
  readonly symbol?: string
  readonly market?: NonNullable<Recording['market']>
}

/**
 * If one name states no instrument, all files form one group, because a column may name any.
 * @throws Failure IMPORT_SYMBOLS_DIFFER
 */
function groupFiles({
  files,
  symbol,
}: { readonly files: readonly string[] } & InstrumentOptions): readonly (readonly string[])[] {
  const symbolOf = (file: string) => readInstrumentName(basename(file)).symbol
  const found = [...new Set(files.flatMap((file) => symbolOf(file) ?? []))]
  if (symbol !== undefined && found.length > 1) throw symbolsDiffer(symbol, found)
  if (symbol !== undefined || files.some((file) => symbolOf(file) === undefined)) return [files]
  return [...Map.groupBy(files, symbolOf).values()]
}

function groupByInstrument(
  tables: readonly NamedTable[],
  given: InstrumentOptions,
): ReadonlyMap<string, readonly NamedTable[]> {
  const named = tables.map((table) => ({ table, found: symbolIn(table, tables) }))
  const found = [...new Set(named.flatMap((one) => one.found ?? instrumentIn(one.table) ?? []))]
  if (given.symbol !== undefined && found.length > 1) throw symbolsDiffer(given.symbol, found)
  const groups = Map.groupBy(named, (one) => given.symbol ?? one.found ?? asked(one.table))
  return new Map(
    [...groups].map(([symbol, group]) => {
      const own = group.map(({ table }) => table)
      assertOneMarket(symbol, own, given)
      assertOneExchange(symbol, own)
      return [symbol, own]
    }),
  )
}

function symbolIn(table: NamedTable, all: readonly NamedTable[]): string | undefined {
  const { instrument, source, names } = table
  const inFile = [...new Set(names.flatMap(({ symbol }) => symbol ?? []))]
  const named = instrument === undefined ? undefined : readInstrumentName(instrument).symbol
  // A price file's symbol need not be one that a name can express.
  const certain = table.isPriceFile === true ? (named ?? instrument) : named
  const ofFile = all.filter((one) => one.source === source)
  const others = [...new Set(ofFile.flatMap((one) => instrumentIn(one) ?? []))]
  if (
    inFile.length > 1 ||
    inFile.some((symbol) => !agrees(table, symbol)) ||
    (!certain && others.length > 1)
  )
    throw contradiction(source, [...inFile, ...(others.length > 0 ? others : [])])
  return certain ?? inFile[0]
}

function instrumentIn({ instrument, isPriceFile }: NamedTable): string | undefined {
  const isNone = instrument === undefined || (isPriceFile !== true && isOfNoInstrument(instrument))
  return isNone ? undefined : instrument
}

function agrees({ instrument, isPriceFile }: NamedTable, symbol: string): boolean {
  if (instrument === undefined) return true
  const isExact = isPriceFile === true && readInstrumentName(instrument).symbol === undefined
  return isExact ? instrument === symbol : agreesWithSymbol(instrument, symbol)
}

/** Vendors mark only the future of a spot pair, so marked and unmarked names differ. */
function assertOneMarket(
  symbol: string,
  tables: readonly NamedTable[],
  { market }: InstrumentOptions,
): void {
  const marked = tables.map((table) => ({
    source: table.isPriceFile === true ? table.source : (table.instrument ?? table.source),
    market: marketOf(table) ?? (table.isPriceFile === true ? 'any' : 'unmarked'),
    isPriceFile: table.isPriceFile === true,
  }))
  const future = marked.find((one) => one.market === 'futures')
  const spot = marked.find((one) => one.market === 'spot')
  const vendors = marked.find((one) => one.market === 'futures' && !one.isPriceFile)
  const other = spot ?? (vendors && marked.find((one) => one.market === 'unmarked'))
  const against = market === 'spot' ? future : market === 'futures' ? spot : undefined
  if (against === undefined && (future === undefined || other === undefined)) return
  throw new Failure({
    code: 'IMPORT_MARKETS_DIFFER',
    sentence: 'futures and spot prices are those of two instruments',
    facts: {
      symbol,
      ...(future && { futures: future.source }),
      ...(other && { [other.market]: other.source }),
      ...(against && { '--market': market ?? '' }),
    },
    hint: 'import each by itself, with --market; if they are the same, rename a file',
  })
}

function marketOf({ names, instrument = '', exchange = '' }: NamedTable): InstrumentName['market'] {
  const all = [...names, readInstrumentName(instrument), readInstrumentName(exchange)]
  const markets = all.map(({ market }) => market)
  return markets.includes('futures') ? 'futures' : markets.find((market) => market !== undefined)
}

function assertOneExchange(symbol: string, tables: readonly NamedTable[]): void {
  const found = new Map<string, string>()
  for (const table of tables) {
    const name = table.names.find(({ exchange }) => exchange !== undefined)?.exchange
    const inCell = readInstrumentName(table.instrument ?? '').exchange
    const exchange =
      (table.exchange === undefined ? undefined : exchangeIn(table.exchange)) ?? inCell ?? name
    if (exchange !== undefined) found.set(exchange, table.source)
  }
  if (found.size < 2) return
  throw new Failure({
    code: 'IMPORT_EXCHANGES_DIFFER',
    sentence: 'prices of two exchanges would become one price file',
    facts: { symbol, ...Object.fromEntries(found) },
    hint: 'import those of each exchange into a folder of their own',
  })
}

const exchangeIn = (cell: string) => readInstrumentName(cell).exchange ?? cell.toLowerCase()

function asked({ source, names, instrument }: NamedTable): never {
  const why =
    instrument === undefined
      ? names.map((name) => name.why ?? '').at(-1)
      : `its column says ${instrument}`
  throw new Failure({
    code: 'IMPORT_SYMBOL_UNKNOWN',
    sentence: 'nothing says for certain which instrument the file is of',
    facts: { file: source, name: why ?? '' },
    hint: 'name it: --symbol BTCUSDT',
  })
}

function contradiction(source: string, found: readonly string[]): Failure {
  return new Failure({
    code: 'IMPORT_SYMBOLS_DIFFER',
    sentence: 'the file names several instruments',
    facts: { file: source, found: [...new Set(found)].slice(0, 5).join(', ') },
    hint: 'name the file after the instrument that is in it, or cut it into a file for each',
  })
}

function symbolsDiffer(symbol: string, found: readonly string[]): Failure {
  return new Failure({
    code: 'IMPORT_SYMBOLS_DIFFER',
    sentence: 'the files are of several symbols, but would become one price file',
    facts: { symbol, found: found.slice(0, 5).join(', ') },
    hint: 'import each by itself, or leave --symbol out',
  })
}
