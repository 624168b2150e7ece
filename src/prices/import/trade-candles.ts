/** Candles of a minute out of trades; a minute without trades has none. */
import { createGrid, floatOnGrid, nearestStep } from '../../lib/grid.ts'
import { findUnit } from '../column-codec.ts'
import { findDisorder, findRows, type PriceTable, sortByTime } from './price-table.ts'

const MINUTE_MS = 60_000

export interface Trades {
  /** Whole Unix ms, in any order; of equals the first in the file was first, the last in one that runs backwards. */
  readonly at: Float64Array
  readonly price: Float64Array
  readonly size: Float64Array
}

/** A trade at no price is left aside. */
export function toCandles(
  trades: Trades,
  { source, whereOf }: Pick<PriceTable, 'source' | 'whereOf'>,
): PriceTable {
  const { at, price } = trades
  const zeroPrices = findRows(at.length, (row) => !((price[row] as number) > 0), whereOf)
  const disorder = findDisorder(at, whereOf)
  const order = sortByTime(
    Uint32Array.from(at, (_, row) => row).filter((row) => (price[row] as number) > 0),
    at,
  )
  const begins = order.filter(
    (row, place) => place === 0 || minuteOf(at, row) !== minuteOf(at, order[place - 1] as number),
  )
  return {
    ...{ kind: 'candles', source, intervalMs: MINUTE_MS, disorder },
    columns: foldTrades(trades, order, begins),
    trades: { count: at.length, zeroPrices },
    whereOf: (candle) => whereOf(begins[candle] as number),
  }
}

/** @param order Rows in order of time. @param begins The row of each candle's first trade. */
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
    // Sums of floats are a little beside the sums.
    ['volume', grid ? volume.map((sum) => floatOnGrid(grid, nearestStep(grid, sum))) : volume],
  ] as const)
}

function minuteOf(at: Float64Array, row: number): number {
  return Math.floor((at[row] as number) / MINUTE_MS)
}
