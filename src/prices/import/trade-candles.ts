/** A minute without trades has no candle. */
import { createGrid, floatOnGrid, nearestStep } from '../../lib/grid.ts'
import { findUnit } from '../column-codec.ts'
import { Failure } from '../../lib/failure.ts'
import {
  type RowFinding,
  findDisorder,
  findRows,
  isTooMuchImpossible,
  pickRows,
  type PriceTable,
  sortByTime,
  type Trades,
  type TradesOfMinute,
} from './price-table.ts'

const MINUTE_MS = 60_000

/** @throws Failure IMPORT_TRADES_IMPOSSIBLE if too many sizes are negative */
export function toCandles(
  trades: Trades,
  { source, whereOf }: Pick<PriceTable, 'source' | 'whereOf'>,
): PriceTable {
  const { at, price, size } = trades
  const hasPrice = (row: number) => (price[row] as number) > 0
  const hasSize = (row: number) => (size[row] as number) >= 0
  const impossible = findRows(at.length, (row) => hasPrice(row) && !hasSize(row), whereOf)
  if (isTooMuchImpossible(impossible.count, at.length)) throw sizesBelowZero(impossible, at.length)
  const possible = sortByTime(
    Uint32Array.from(at, (_, row) => row).filter((row) => hasPrice(row) && hasSize(row)),
    at,
  )
  const isDouble = markDoubles(trades, possible)
  const order = possible.filter((row) => isDouble[row] === 0)
  const begins = order.filter(
    (row, place) => place === 0 || minuteOf(at, row) !== minuteOf(at, order[place - 1] as number),
  )
  const minutes = [...new Set([begins[0], begins.at(-1)])].filter((row) => row !== undefined)
  return {
    kind: 'candles',
    source,
    intervalMs: MINUTE_MS,
    disorder: findDisorder(at, whereOf),
    columns: foldTrades(trades, order, begins),
    trades: {
      count: at.length,
      zeroPrices: findRows(at.length, (row) => !hasPrice(row), whereOf),
      impossible,
      duplicates: findRows(at.length, (row) => isDouble[row] === 1, whereOf),
      edges: minutes.map((row) => pickMinute(trades, order, { begin: row, whereOf })),
    },
    whereOf: (candle) => whereOf(begins[candle] as number),
  }
}

function sizesBelowZero({ count, first = '' }: RowFinding, trades: number): Failure {
  return new Failure({
    code: 'IMPORT_TRADES_IMPOSSIBLE',
    sentence: 'many trades have a size below zero',
    facts: { trades, impossible: count, first },
    hint: 'if the sign says the side, write the sizes without it; else check the order of the columns',
  })
}

/** A double repeats id, time, price and size, because ids alone may restart each day. */
function markDoubles({ at, price, size, id }: Trades, order: Uint32Array): Uint8Array {
  const isDouble = new Uint8Array(at.length)
  if (id === undefined) return isDouble
  const seen = new Map<number, number>()
  let time = Number.NaN
  for (const row of order) {
    if (at[row] !== time) seen.clear()
    time = at[row] as number
    const own = id[row] as number
    const first = seen.get(own)
    if (first === undefined && !Number.isNaN(own)) seen.set(own, row)
    else if (first !== undefined && price[first] === price[row] && size[first] === size[row])
      isDouble[row] = 1
  }
  return isDouble
}

function pickMinute(
  trades: Trades,
  order: Uint32Array,
  { begin, whereOf }: { readonly begin: number; readonly whereOf: (row: number) => string },
): TradesOfMinute {
  const minute = minuteOf(trades.at, begin)
  const rows = order.filter((row) => minuteOf(trades.at, row) === minute)
  const columns = pickRows(new Map(Object.entries(trades) as [keyof Trades, Float64Array][]), rows)
  return {
    ...(Object.fromEntries(columns) as unknown as Trades),
    minute: minute * MINUTE_MS,
    whereOf: (row) => whereOf(rows[row] as number),
  }
}

/**
 * Builds a minute that is cut or repeated between files from all its trades. @param tables of one
 * instrument
 */
export function joinSeams(tables: readonly PriceTable[]): readonly PriceTable[] {
  const edges = tables.flatMap((table) => table.trades?.edges ?? [])
  const seams = [...Map.groupBy(edges, ({ minute }) => minute).values()].filter(
    (parts) => parts.length > 1,
  )
  if (seams.length === 0) return tables
  const minutes = new Set(seams.map(([part]) => part?.minute))
  const rest = tables.map((table) => {
    if (!table.trades) return table
    const at = table.columns.get('at') as Float64Array
    const isEdge = (time: number) =>
      table.trades?.edges.some(({ minute }) => minute === time) === true
    const rows = Uint32Array.from(at, (_, row) => row).filter((row) => {
      const time = at[row] as number
      return !(minutes.has(time) && isEdge(time))
    })
    return {
      ...table,
      columns: pickRows(table.columns, rows),
      whereOf: (row: number) => table.whereOf(rows[row] as number),
    }
  })
  const source = tables.find(({ trades }) => trades)?.source ?? ''
  return [...rest, ...seams.map((parts) => joinMinute(parts, source))]
}

/** The tables of the files already have counts and findings. */
function joinMinute(parts: readonly TradesOfMinute[], source: string): PriceTable {
  const ordered = parts.toSorted((one, other) => (one.at[0] as number) - (other.at[0] as number))
  const join = (pick: (part: TradesOfMinute) => Float64Array) =>
    Float64Array.from(ordered.flatMap((part) => [...pick(part)]))
  const places = ordered.flatMap(({ at, whereOf }) =>
    Array.from(at, (_, row) => () => whereOf(row)),
  )
  const trades = {
    at: join(({ at }) => at),
    price: join(({ price }) => price),
    size: join(({ size }) => size),
    id: join((part) => part.id ?? numberEquals(part)),
  }
  const table = toCandles(trades, { source, whereOf: (row) => places[row]?.() ?? '' })
  const duplicates = table.trades?.duplicates ?? { count: 0 }
  const none = { count: 0 }
  return {
    ...table,
    disorder: none,
    trades: { count: 0, zeroPrices: none, impossible: none, edges: [], duplicates },
  }
}

/** Without ids, the n-th of equal trades in one file matches the n-th in another. */
function numberEquals({ at, price, size }: Trades): Float64Array {
  const counts = new Map<string, number>()
  return at.map((time, row) => {
    const key = `${time} ${price[row]} ${size[row]}`
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return count
  })
}

/** @param order rows by time @param begins each candle's first trade */
function foldTrades({ at, price, size }: Trades, order: Uint32Array, begins: Uint32Array) {
  const of = (column: Float64Array) => Float64Array.from(begins, (row) => column[row] as number)
  const [opens, open, high, low, close] = [of(at), of(price), of(price), of(price), of(price)]
  const volume = new Float64Array(begins.length)
  let candle = -1
  for (const row of order) {
    if (row === begins[candle + 1]) candle++
    const traded = price[row] as number
    high[candle] = Math.max(high[candle] as number, traded)
    low[candle] = Math.min(low[candle] as number, traded)
    close[candle] = traded
    volume[candle] = (volume[candle] as number) + (size[row] as number)
  }
  const unit = findUnit(size)
  const grid = unit === undefined ? undefined : createGrid(unit)
  return new Map([
    ['at', opens.map((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS)],
    ['open', open],
    ['high', high],
    ['low', low],
    ['close', close],
    // Rounding to the grid removes the errors of summed floats.
    ['volume', grid ? volume.map((sum) => floatOnGrid(grid, nearestStep(grid, sum))) : volume],
  ] as const)
}

function minuteOf(at: Float64Array, row: number): number {
  return Math.floor((at[row] as number) / MINUTE_MS)
}
