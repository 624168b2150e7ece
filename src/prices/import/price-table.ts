import type { Field } from '../recording.ts'

/** `first` is the place of the first such row: `BTCUSDT.csv:17`. */
export interface RowFinding {
  readonly count: number
  readonly first?: string
}

export interface Trades {
  /** Whole Unix ms, in any order. */
  readonly at: Float64Array
  readonly price: Float64Array
  readonly size: Float64Array
  readonly id?: Float64Array
}

interface TradesRead extends Readonly<
  Record<'zeroPrices' | 'impossible' | 'duplicates', RowFinding>
> {
  readonly count: number
  /** Another file may hold the rest of the first and the last minute. */
  readonly edges: readonly TradesOfMinute[]
}

export interface TradesOfMinute extends Trades {
  readonly minute: number
  readonly whereOf: (row: number) => string
}

export interface PriceTable {
  readonly kind: 'candles' | 'quotes' | 'funding'
  readonly source: string
  /** Stated by columns of the file, or by the header of a price file. */
  readonly instrument?: string
  readonly exchange?: string
  readonly isPriceFile?: boolean
  readonly madeUp?: true
  /** Whole Unix ms in `at`; all columns have the same length. */
  readonly columns: ReadonlyMap<Field, Float64Array>
  readonly intervalMs?: number
  readonly isByPlace?: boolean
  readonly isByClose?: boolean
  readonly periodHours?: Float64Array
  readonly trades?: TradesRead
  readonly disorder?: RowFinding
  readonly remarks?: readonly string[]
  readonly whereOf: (row: number) => string
}

/** Beyond these, impossible rows mean that columns are in another order. */
const IMPOSSIBLE_SHARE_MAX = 1 / 3
const IMPOSSIBLE_ROWS_MIN = 10

export function isTooMuchImpossible(count: number, rows: number): boolean {
  return count >= Math.max(IMPOSSIBLE_ROWS_MIN, rows * IMPOSSIBLE_SHARE_MAX)
}

export function findRows(
  rows: number,
  isFound: (row: number) => boolean,
  whereOf: (row: number) => string,
): RowFinding {
  let count = 0
  let first = -1
  for (let row = 0; row < rows; row++) {
    if (!isFound(row)) continue
    if (count === 0) first = row
    count++
  }
  return count === 0 ? { count } : { count, first: whereOf(first) }
}

export function addFindings(findings: readonly RowFinding[]): RowFinding {
  const count = findings.reduce((sum, finding) => sum + finding.count, 0)
  const first = findings.find((finding) => finding.first !== undefined)?.first
  return { count, ...(first !== undefined && { first }) }
}

export function findDisorder(at: Float64Array, whereOf: (row: number) => string): RowFinding {
  return findRows(
    at.length,
    (row) => row > 0 && (at[row] as number) < (at[row - 1] as number),
    whereOf,
  )
}

/** Equal times keep the file's order, reversed if it runs backwards. */
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
