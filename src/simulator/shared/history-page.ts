import { isIdBefore } from './order-sequence.ts'

/** Document: histories of spot orders and conversions reach back 90 days. */
export const HISTORY_DAYS = 90
export const HISTORY_MS = HISTORY_DAYS * 86_400_000

/** What is asked of a history. Times are Unix ms in strings. */
export interface HistoryQuery {
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

/** Of a query that reaches back 90 days: a missing end is now, a missing start 90 days before the end. */
export function historySpan({ startTime, endTime }: HistoryQuery, now: number) {
  const endAt = Number(endTime || now)
  return { startAt: Math.max(Number(startTime || endAt - HISTORY_MS), now - HISTORY_MS), endAt }
}

interface PageOptions<Row> {
  /** Digits; they ascend with the rows. */
  readonly idOf: (row: Row) => string
  /** Unix ms; they ascend with the rows too. Left out where no times are asked for. */
  readonly timeOf?: (row: Row) => number
  /** Unix ms, both of them included. */
  readonly startAt?: number
  readonly endAt?: number
  /** The cursor: only rows with smaller ids. */
  readonly idLessThan?: string | undefined
  /** Rows of a page at most. */
  readonly limit: number
  readonly accepts?: (row: Row) => boolean
}

/**
 * One page of a history, newest first. What cursor and times leave out is not looked at: where they begin and end is
 * found by halves.
 *
 * @param rows Oldest first.
 */
export function historyPage<Row>(rows: readonly Row[], options: PageOptions<Row>): Row[] {
  const { idOf, timeOf = () => 0, startAt = 0, endAt = Number.POSITIVE_INFINITY } = options
  const { idLessThan, limit, accepts = () => true } = options
  const begin = countFirst(rows, (row) => timeOf(row) < startAt)
  const end = countFirst(
    rows,
    (row) => timeOf(row) <= endAt && (idLessThan === undefined || isIdBefore(idOf(row), idLessThan)),
  )
  const page: Row[] = []
  for (let index = end - 1; index >= begin && page.length < limit; index--) {
    const row = rows[index]
    if (row !== undefined && accepts(row)) page.push(row)
  }
  return page
}

/** How many rows from the first on are so, where those that are stand before those that are not. */
export function countFirst<Row>(rows: readonly Row[], isSo: (row: Row) => boolean): number {
  let [least, most] = [0, rows.length]
  while (least < most) {
    const middle = Math.floor((least + most) / 2)
    const row = rows[middle]
    if (row !== undefined && isSo(row)) least = middle + 1
    else most = middle
  }
  return least
}
