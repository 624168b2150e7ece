import { isIdBefore } from './order-sequence.ts'
import { refusals } from './refusals.ts'
import { accept, type RefusedReply, type Reply } from './reply.ts'

const DAY_MS = 86_400_000

/** Times are Unix ms in strings. */
export interface HistoryQuery {
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

export interface HistoryRules {
  readonly limitMax: number
  readonly limitUsual?: number
  readonly refusedLimits?: 'belowOne' | 'outOfRange'
  readonly span?: (
    query: HistoryQuery,
    now: number,
  ) => { readonly startAt: number; readonly endAt: number }
  readonly refusesDisorder?: boolean
  readonly boundAt?: number | undefined
  readonly daysMax?: number
}

export function ninetyDays({ startTime, endTime }: HistoryQuery, now: number) {
  const endAt = Number(endTime || now)
  return { startAt: Number(startTime || endAt - 90 * DAY_MS), endAt }
}

/** Document: histories of spot orders and conversions reach back 90 days. */
export function lastNinetyDays(query: HistoryQuery, now: number) {
  const { startAt, endAt } = ninetyDays(query, now)
  return { startAt: Math.max(startAt, now - 90 * DAY_MS), endAt }
}

type PageRequest<Row> = HistoryRules &
  Pick<PageOptions<Row>, 'idOf' | 'timeOf' | 'accepts'> & { readonly now: number }

export function readHistory<Row>(
  rows: readonly Row[],
  query: HistoryQuery,
  options: PageRequest<Row>,
): Reply<Row[]> {
  const { limitMax, limitUsual = limitMax, now, timeOf, span = asAsked, boundAt = 0 } = options
  const limit = Number(query.limit ?? limitUsual)
  const refusal = limitRefusal(limit, options) ?? spanRefusal(query, options)
  if (refusal !== undefined) return refusal
  const newest = rows.at(-1)
  if (newest !== undefined && timeOf && Number(query.startTime) > timeOf(newest)) return accept([])
  const { idLessThan } = query
  const times = timeOf && sinceBinding(span(query, now), boundAt)
  return accept(
    historyPage(rows, { ...options, ...times, idLessThan, limit: Math.min(limit, limitMax) }),
  )
}

function sinceBinding({ startAt, endAt }: ReturnType<typeof asAsked>, boundAt: number) {
  return { startAt: Math.max(startAt, boundAt), endAt }
}

function asAsked({ startTime, endTime }: HistoryQuery) {
  return { startAt: Number(startTime || 0), endAt: Number(endTime || Number.POSITIVE_INFINITY) }
}

function limitRefusal(
  limit: number,
  { limitMax, refusedLimits }: HistoryRules,
): RefusedReply | undefined {
  const isRefused = !(limit >= 1) || (refusedLimits === 'outOfRange' && limit > limitMax)
  return refusedLimits !== undefined && isRefused
    ? refusals.outOfRange('limit', `1 and ${limitMax}`)
    : undefined
}

function spanRefusal(
  { startTime, endTime }: HistoryQuery,
  {
    refusesDisorder,
    daysMax = Number.POSITIVE_INFINITY,
    boundAt = 0,
    now,
  }: HistoryRules & { readonly now: number },
): RefusedReply | undefined {
  if (!startTime) return undefined
  if (Number(startTime) < boundAt) return refusals.parameter('startTime')
  if (refusesDisorder && endTime && Number(startTime) > Number(endTime))
    return refusals.startAfterEnd
  const isTooLong = Number(endTime || now) - Number(startTime) > daysMax * DAY_MS
  return isTooLong ? refusals.spanTooLong(daysMax) : undefined
}

interface PageOptions<Row> {
  readonly idOf: (row: Row) => string
  readonly timeOf?: (row: Row) => number
  readonly startAt?: number
  readonly endAt?: number
  readonly idLessThan?: string | undefined
  readonly limit: number
  readonly accepts?: (row: Row) => boolean
}

export function historyPage<Row>(rows: readonly Row[], options: PageOptions<Row>): Row[] {
  const { idOf, timeOf = () => 0, startAt = 0, endAt = Number.POSITIVE_INFINITY } = options
  const { idLessThan, limit, accepts = () => true } = options
  const begin = countFirst(rows, (row) => timeOf(row) < startAt)
  const end = countFirst(
    rows,
    (row) =>
      timeOf(row) <= endAt && (idLessThan === undefined || isIdBefore(idOf(row), idLessThan)),
  )
  const page: Row[] = []
  for (let index = end - 1; index >= begin && page.length < limit; index--) {
    const row = rows[index]
    if (row !== undefined && accepts(row)) page.push(row)
  }
  return page
}

/** The rows for which `isSo` holds must all come first. */
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
