import { isIdBefore } from './order-sequence.ts'

/** Document: history is kept, and asked for in spans of, at most 90 days. */
export const HISTORY_DAYS = 90
export const HISTORY_MS = HISTORY_DAYS * 86_400_000

/** What queries of histories have in common. Times are Unix ms in strings. */
export interface HistoryQuery {
  readonly orderId?: string | undefined
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

export interface HistoryRow {
  readonly orderId: string
  /** Unix ms. */
  readonly createdAt: number
}

interface PageOptions<Row> {
  readonly query: HistoryQuery
  readonly limitByDefault: number
  readonly limitMax: number
  readonly now: number
  readonly accepts?: (row: Row) => boolean
}

/**
 * One page, newest first: at most `limit` rows with smaller ids than `idLessThan`, of the last 90 days. A
 * missing end is now, a missing start 90 days before the end. A limit beyond the maximum is cut to it.
 *
 * @param rows Oldest first.
 */
export function historyPage<Row extends HistoryRow>(rows: readonly Row[], options: PageOptions<Row>): Row[] {
  const { query, now, limitByDefault, limitMax, accepts = () => true } = options
  const limit = Math.min(Number(query.limit ?? limitByDefault), limitMax)
  const endAt = Number(query.endTime || now)
  const startAt = Math.max(Number(query.startTime || endAt - HISTORY_MS), now - HISTORY_MS)
  const page: Row[] = []
  for (let index = rows.length - 1; index >= 0 && page.length < limit; index--) {
    const row = rows[index]
    if (row === undefined || row.createdAt < startAt || row.createdAt > endAt) continue
    if (query.orderId !== undefined && row.orderId !== query.orderId) continue
    if (query.idLessThan !== undefined && !isIdBefore(row.orderId, query.idLessThan)) continue
    if (accepts(row)) page.push(row)
  }
  return page
}
