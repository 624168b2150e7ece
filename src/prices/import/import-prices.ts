/** Files of prices, whoever wrote them, become one price file for each instrument and interval. */
import { basename, join } from 'node:path'
import { Failure } from '../../lib/failure.ts'
import { assertReadable, readPrices } from '../load-recording.ts'
import { buildPriceFile } from '../price-file.ts'
import type { Recording } from '../recording.ts'
import { unpackGzip } from '../unpack-gzip.ts'
import { writeNewFile } from '../write-new-file.ts'
import { type CleanRows, cleanTables } from './clean-tables.ts'
import { findInterval } from './gaps.ts'
import type { PriceTable } from './price-table.ts'
import { readTable } from './read-table.ts'
import { symbolInName } from './symbol-in-name.ts'
import { intervalInName, nameInterval } from './times.ts'
import { isZip, type PackedFile, unpackZip } from './zip-entries.ts'

/** Of one file, unpacked: a day of all trades of the busiest instrument. */
const FILE_BYTES_MAX = 1024 * 1024 * 1024
const MINUTE_MS = 60_000

export interface ImportOptions {
  readonly files: readonly string[]
  readonly directory: string
  /** Of all files; without it each file's name says it. */
  readonly symbol?: string
  readonly market?: NonNullable<Recording['market']>
  /** Nothing that is not as it should be is written. */
  readonly isStrict: boolean
  /** A price file that is there already is written anew. */
  readonly isReplacing: boolean
}

/** One price file. */
export interface Imported extends CleanRows {
  readonly symbol: string
  /** `1m`, or `quotes`. */
  readonly name: string
  readonly sources: readonly string[]
  readonly trades: number
  /** Undefined where it was refused. */
  readonly written?: { readonly file: string; readonly bytes: number; readonly sha256: string }
}

/**
 * Each instrument's files are read, cleaned and written before the next one's, so that memory holds one of them.
 * @throws Failure IMPORT_SYMBOL_UNKNOWN, IMPORT_SYMBOLS_DIFFER, IMPORT_EXISTS, IMPORT_UNWRITABLE, and those of
 *   reading: {@link readTable}, {@link cleanTables}
 */
export async function* importPrices(options: ImportOptions): AsyncGenerator<Imported> {
  await Promise.all(options.files.map(assertReadable))
  for (const [symbol, files] of groupBySymbol(options)) {
    const tables: PriceTable[] = []
    for (const file of files) tables.push(...(await loadTables(file)))
    yield* writePrices(groupByInterval(tables), { symbol, options })
  }
}

/** Cleans and writes tables of one instrument. */
export function* writePrices(
  groups: ReadonlyMap<number | undefined, readonly PriceTable[]>,
  {
    symbol,
    options,
  }: {
    readonly symbol: string
    readonly options: Pick<ImportOptions, 'directory' | 'market' | 'isStrict' | 'isReplacing'>
  },
): Generator<Imported> {
  for (const [intervalMs, tables] of groups) {
    const clean = cleanTables(tables, intervalMs)
    const name = intervalMs === undefined ? 'quotes' : nameInterval(intervalMs)
    const sources = [...new Set(tables.map(({ source }) => source))]
    const trades = tables.reduce((sum, table) => sum + (table.trades?.count ?? 0), 0)
    const imported = { symbol, name, sources, trades, ...clean }
    const isRefused = options.isStrict && !isClean(clean)
    yield isRefused ? imported : { ...imported, written: write(imported, options) }
  }
}

/** Whether nothing was missing, sorted or dropped. */
export function isClean({ findings, gaps }: Pick<CleanRows, 'findings' | 'gaps'>): boolean {
  return gaps.count === 0 && Object.values(findings).every(({ count }) => count === 0)
}

function write(
  { symbol, name, sources, rows, intervalMs }: Omit<Imported, 'written'>,
  { directory, market, isReplacing }: Pick<ImportOptions, 'directory' | 'market' | 'isReplacing'>,
) {
  const parts = [symbol, ...(market ? [market] : []), name]
  const file = join(directory, `${parts.join('-')}.prices`)
  const known = intervalMs === undefined ? {} : { intervalMs }
  const bytes = buildPriceFile({ symbol, rows, sources, ...known, ...(market && { market }) })
  writeNewFile(file, bytes, { isReplacing })
  return { file, bytes: bytes.length, sha256: bytes.toString('hex', bytes.length - 32) }
}

function groupBySymbol({ files, symbol }: ImportOptions): ReadonlyMap<string, readonly string[]> {
  const named = files.map((file) => ({ file, found: symbolInName(basename(file)) }))
  const found = [...new Set(named.flatMap((one) => one.found ?? []))]
  if (symbol !== undefined) {
    if (found.length > 1) throw symbolsDiffer(symbol, found)
    return new Map([[symbol, files]])
  }
  const groups = new Map<string, string[]>()
  for (const one of named) {
    if (one.found === undefined) throw symbolUnknown(one.file)
    groups.set(one.found, [...(groups.get(one.found) ?? []), one.file])
  }
  return groups
}

async function loadTables(path: string): Promise<readonly PriceTable[]> {
  const packed = await readPrices(path)
  const limit = { path, bytesMax: FILE_BYTES_MAX }
  const files: readonly PackedFile[] = isZip(packed)
    ? unpackZip(packed, limit)
    : [{ name: basename(path), bytes: await unpackGzip(packed, limit) }]
  return files.map(readTable)
}

/** Quotes together, and candles of one interval; a single candle has that of the others. */
function groupByInterval(
  tables: readonly PriceTable[],
): ReadonlyMap<number | undefined, readonly PriceTable[]> {
  const steps = tables.map((table) => (table.kind === 'quotes' ? undefined : stepOf(table)))
  const known = steps.find((step) => step !== undefined)
  const groups = new Map<number | undefined, PriceTable[]>()
  for (const [index, table] of tables.entries()) {
    const intervalMs = table.kind === 'quotes' ? undefined : (steps[index] ?? known ?? MINUTE_MS)
    groups.set(intervalMs, [...(groups.get(intervalMs) ?? []), table])
  }
  return groups
}

/** What the file says, then what its name says: of an instrument that is seldom traded the rows may not show it. */
function stepOf({ intervalMs, source, columns }: PriceTable): number | undefined {
  if (intervalMs !== undefined) return intervalMs
  const [named, found] = [intervalInName(source), findInterval(columns.get('at') as Float64Array)]
  const isNamed = named !== undefined && (found ?? named) % named === 0
  return isNamed ? named : found
}

function symbolUnknown(file: string): Failure {
  return new Failure({
    code: 'IMPORT_SYMBOL_UNKNOWN',
    sentence: 'the file name does not begin with a symbol',
    facts: { file },
    hint: 'name it: --symbol BTCUSDT',
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
