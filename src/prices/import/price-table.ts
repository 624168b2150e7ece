/** One file's rows as they stand in it: not checked, not sorted. */
import type { Field } from '../recording.ts'

/** How many rows something is wrong with, and where the first of them stands: `BTCUSDT.csv:17`. */
export interface Finding {
  readonly count: number
  readonly first?: string
}

export interface PriceTable {
  readonly kind: 'candles' | 'quotes'
  /** The file's name. */
  readonly source: string
  /** Whole Unix ms in `at`; columns of one length. */
  readonly columns: ReadonlyMap<Field, Float64Array>
  /** Of candles, where the file says it: ms. */
  readonly intervalMs?: number
  /** What candles were made of. */
  readonly trades?: { readonly count: number; readonly zeroPrices: Finding; readonly disorder: Finding }
  readonly whereOf: (row: number) => string
}

/** The rows of which something is true. */
export function findRows(
  rows: number,
  isFound: (row: number) => boolean,
  whereOf: (row: number) => string,
): Finding {
  let count = 0
  let first = -1
  for (let row = 0; row < rows; row++) {
    if (!isFound(row)) continue
    if (count === 0) first = row
    count++
  }
  return count === 0 ? { count } : { count, first: whereOf(first) }
}

/** Rows whose time is before that of the row before. */
export function findDisorder(at: Float64Array, whereOf: (row: number) => string): Finding {
  return findRows(at.length, (row) => row > 0 && (at[row] as number) < (at[row - 1] as number), whereOf)
}
