import { basename } from 'node:path'
import { Failure } from '../../lib/failure.ts'
import {
  agreesWithSymbol,
  type InstrumentName,
  isOfNoInstrument,
  readInstrumentName,
} from '../instrument-name.ts'
import type { Recording } from '../recording.ts'
import type { PriceTable } from './price-table.ts'

export interface NamedTable extends PriceTable {
  readonly names: readonly InstrumentName[]
}

interface InstrumentOptions {
  readonly symbol?: string
  readonly market?: NonNullable<Recording['market']>
}

/**
 * In the order in which the files are listed. If one name says no instrument, all form one group,
 * because a column may name any. @throws Failure IMPORT_SYMBOLS_DIFFER
 */
export function groupFiles({
  files,
  symbol,
}: { readonly files: readonly string[] } & InstrumentOptions): readonly (readonly string[])[] {
  const symbolOf = (file: string) => readInstrumentName(basename(file)).symbol
  const found = [...new Set(files.flatMap((file) => symbolOf(file) ?? []))]
  if (symbol !== undefined && found.length > 1) throw symbolsDiffer(symbol, found)
  if (symbol !== undefined || files.some((file) => symbolOf(file) === undefined)) return [files]
  return [...Map.groupBy(files, symbolOf).values()]
}

/**
 * @throws Failure IMPORT_SYMBOL_UNKNOWN, IMPORT_SYMBOLS_DIFFER, IMPORT_MARKETS_DIFFER,
 * IMPORT_EXCHANGES_DIFFER
 */
export function groupByInstrument(
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

/** Undefined if neither file names nor cells are certain. */
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

/**
 * A spot pair and a future of one name are two instruments. Vendors mark only the future, so marked
 * and unmarked names differ.
 */
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
