/** One instrument's rows of one file as read: unchecked and unsorted. */
import type { Field } from '../recording.ts'

/** Number of wrong rows, and the place of the first: `BTCUSDT.csv:17`. */
export interface Finding {
  readonly count: number
  readonly first?: string
}

export interface Trades {
  /**
   * Whole Unix ms, in any order. Equal times are in order of the file; in one that runs backwards,
   * in reverse order.
   */
  readonly at: Float64Array
  readonly price: Float64Array
  readonly size: Float64Array
  /** NaN for a trade without id. */
  readonly id?: Float64Array
}

interface TradesRead extends Readonly<Record<'zeroPrices' | 'impossible' | 'duplicates', Finding>> {
  readonly count: number
  /**
   * Trades of the first and last minute, in order: another file may hold the rest of these minutes.
   */
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
  /** Instrument and exchange as named by columns of the file, or by a price file's header. */
  readonly instrument?: string
  readonly exchange?: string
  /** Whether an earlier import wrote the file. */
  readonly isPriceFile?: boolean
  /** Whole Unix ms in `at`; all columns have the same length. */
  readonly columns: ReadonlyMap<Field, Float64Array>
  /** Length of candles as stated by the file, ms. */
  readonly intervalMs?: number
  /** Whether the meaning of candle columns follows from their position, for lack of a header. */
  readonly isByPlace?: boolean
  /** Whether the header says that times of candles are those of the close. */
  readonly isByClose?: boolean
  /** Length of the period as stated by each row of funding payments, hours. */
  readonly periodHours?: Float64Array
  /** Trades from which the candles were built. */
  readonly trades?: TradesRead
  /** Rows earlier than the row before, if they are sorted already. */
  readonly disorder?: Finding
  /** Notes for the operator on how the file was read. */
  readonly remarks?: readonly string[]
  readonly whereOf: (row: number) => string
}

/** So many impossible rows mean that the columns are in another order. */
const IMPOSSIBLE_SHARE_MAX = 1 / 3
const IMPOSSIBLE_ROWS_MIN = 10

export function isTooMuchImpossible(count: number, rows: number): boolean {
  return count >= Math.max(IMPOSSIBLE_ROWS_MIN, rows * IMPOSSIBLE_SHARE_MAX)
}

/** Counts the rows that satisfy `isFound`. */
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

/** Adds findings of several files; `first` is from the first file that has one. */
export function addFindings(findings: readonly Finding[]): Finding {
  const count = findings.reduce((sum, finding) => sum + finding.count, 0)
  const first = findings.find((finding) => finding.first !== undefined)?.first
  return { count, ...(first !== undefined && { first }) }
}

/** Finds rows earlier than the row before. */
export function findDisorder(at: Float64Array, whereOf: (row: number) => string): Finding {
  return findRows(
    at.length,
    (row) => row > 0 && (at[row] as number) < (at[row - 1] as number),
    whereOf,
  )
}

/**
 * Sorts rows by time. Rows of one time keep the order of the file, or its reverse if the file runs
 * backwards.
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

/** Picks rows of all columns, in the given order. */
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
