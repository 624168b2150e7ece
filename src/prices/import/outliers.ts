/** A wrong unit or a lost digit puts a price far from its neighbours. */
import type { CandleRows, QuoteRows } from '../recording.ts'
import { type RowFinding, findRows } from './price-table.ts'

const TIMES_MAX = 5

/** The first row is compared with the two after. At a new level, only its first row is found. */
export function findOutliers(
  rows: Pick<CandleRows, 'kind' | 'open' | 'high' | 'low' | 'close'> | QuoteRows,
  whereOf: (row: number) => string,
): RowFinding {
  const prices: readonly (readonly [name: string, numbers: Float64Array])[] =
    rows.kind === 'candles'
      ? Object.entries({ open: rows.open, high: rows.high, low: rows.low, close: rows.close })
      : Object.entries({ bid: rows.bid, ask: rows.ask, last: rows.last })
  const lasts = rows.kind === 'candles' ? rows.close : rows.last
  const farFrom = (row: number, price: number) =>
    prices.find(([, numbers]) => isFar(numbers[row] as number, price))
  const found = new Map<number, string>()
  let believed = [...lasts.subarray(0, 3)].sort((one, other) => one - other)[
    lasts.length > 2 ? 1 : 0
  ] as number
  let strayed: number | undefined
  for (let row = 0; row < lasts.length; row++) {
    const far = farFrom(row, believed)
    if (far && (strayed === undefined || farFrom(row, strayed))) {
      found.set(row, `${far[0]} ${far[1][row]} ${row === 0 ? 'before' : 'after'} ${believed}`)
      strayed = lasts[row]
    } else {
      believed = lasts[row] as number
      strayed = undefined
    }
  }
  return findRows(
    lasts.length,
    (row) => found.has(row),
    (row) => `${whereOf(row)}, ${found.get(row)}`,
  )
}

export function timeIn({ at }: Pick<CandleRows | QuoteRows, 'at'>): (row: number) => string {
  return (row) => new Date(at[row] as number).toISOString()
}

function isFar(price: number, other: number): boolean {
  return price > other * TIMES_MAX || price * TIMES_MAX < other
}
