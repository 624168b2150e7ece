/** One instrument's rows of one file as they stand in it: not checked, not sorted. */
import type { Field } from '../recording.ts'

/** How many rows something is wrong with, and where the first of them stands: `BTCUSDT.csv:17`. */
export interface Finding {
  readonly count: number
  readonly first?: string
}

export interface Trades {
  /** Whole Unix ms, in any order; of equals the first in the file was first, the last in one that runs backwards. */
  readonly at: Float64Array
  readonly price: Float64Array
  readonly size: Float64Array
  /** NaN where there is none. */
  readonly id?: Float64Array
}

interface TradesRead extends Readonly<Record<'zeroPrices' | 'impossible' | 'duplicates', Finding>> {
  readonly count: number
  /** Those of the first and of the last minute, in order: another file may have the rest of these minutes. */
  readonly edges: readonly TradesOfMinute[]
}

export interface TradesOfMinute extends Trades {
  /** Unix ms. */
  readonly minute: number
  readonly whereOf: (row: number) => string
}

export interface PriceTable {
  readonly kind: 'candles' | 'quotes' | 'funding'
  /** The file's name. */
  readonly source: string
  /** The instrument and the exchange as columns of the file, or a price file's header, name them. */
  readonly instrument?: string
  readonly exchange?: string
  /** Whether it was made by an import before. */
  readonly isPriceFile?: boolean
  /** Whole Unix ms in `at`; columns of one length. */
  readonly columns: ReadonlyMap<Field, Float64Array>
  /** Of candles, where the file says it: ms. */
  readonly intervalMs?: number
  /** Whether there was no header, so that the places alone say what the columns of candles are. */
  readonly isByPlace?: boolean
  /** Whether the header says that the times of candles are those of their closes. */
  readonly isByClose?: boolean
  /** Each row of funding payments says how long a period is, hours. */
  readonly periodHours?: Float64Array
  /** What candles were made of. */
  readonly trades?: TradesRead
  /** Rows before the row before them, where they were sorted already. */
  readonly disorder?: Finding
  /** A person should know this of how the file was read. */
  readonly remarks?: readonly string[]
  readonly whereOf: (row: number) => string
}

/** So many rows that cannot be are rows whose columns stand in another order. */
const IMPOSSIBLE_SHARE_MAX = 1 / 3
const IMPOSSIBLE_ROWS_MIN = 10

export function isTooMuchImpossible(count: number, rows: number): boolean {
  return count >= Math.max(IMPOSSIBLE_ROWS_MIN, rows * IMPOSSIBLE_SHARE_MAX)
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

/** The findings of several files; the first place is that of the first file that has one. */
export function addFindings(findings: readonly Finding[]): Finding {
  const count = findings.reduce((sum, finding) => sum + finding.count, 0)
  const first = findings.find((finding) => finding.first !== undefined)?.first
  return { count, ...(first !== undefined && { first }) }
}

/** Rows whose time is before that of the row before. */
export function findDisorder(at: Float64Array, whereOf: (row: number) => string): Finding {
  return findRows(
    at.length,
    (row) => row > 0 && (at[row] as number) < (at[row - 1] as number),
    whereOf,
  )
}

/**
 * Rows in the order in which they happened. Rows of one time keep the order of the file, and in a file that runs
 * backwards the order against it.
 */
export function sortByTime(rows: Uint32Array, at: Float64Array): Uint32Array {
  const timeOf = (row: number) => at[row] as number
  let [later, earlier] = [0, 0]
  for (let row = 1; row < at.length; row++) {
    if (timeOf(row) > timeOf(row - 1)) later++
    else if (timeOf(row) < timeOf(row - 1)) earlier++
  }
  if (earlier === 0) return rows
  const isBackwards = earlier > later
  return rows
    .slice()
    .sort((one, other) => timeOf(one) - timeOf(other) || (isBackwards ? other - one : one - other))
}

/** Some rows of columns, in their order. */
export function pickRows<Name>(
  columns: ReadonlyMap<Name, Float64Array>,
  rows: Uint32Array,
): ReadonlyMap<Name, Float64Array> {
  return new Map(
    [...columns].map(([name, numbers]) => [
      name,
      Float64Array.from(rows, (row) => numbers[row] as number),
    ]),
  )
}
