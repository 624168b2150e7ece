import type { RuleContext } from './endpoint.ts'

/** Document: Limits, on `startTime` and `endTime`. */

const DAY_MS = 24 * 3_600_000

/** Document: "maximum interval 90 days"; the history of spot orders also goes back 90 days. */
const SPAN_DAYS_MAX = 90

export interface TimeSpan {
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
}

/** True if one is missing: the exchange supplies it. */
export function isWithin90Days({ startTime, endTime }: TimeSpan): boolean {
  if (!startTime || !endTime) return true
  return Number(endTime) - Number(startTime) <= SPAN_DAYS_MAX * DAY_MS
}

/** Document: "span at most three months". True if one is missing. */
export function isWithinThreeMonths({ startTime, endTime }: TimeSpan): boolean {
  if (!startTime || !endTime) return true
  return Number(endTime) <= addMonths(Number(startTime), SPAN_MONTHS_MAX)
}

/**
 * Unix ms. Document: "a missing end defaults to three months after the start range, a missing start
 * to three months back"; with both missing, back from now.
 */
export function threeMonthsSpan({ startTime, endTime }: TimeSpan, now: number) {
  const startAt = startTime
    ? Number(startTime)
    : addMonths(Number(endTime || now), -SPAN_MONTHS_MAX)
  const endAt = endTime ? Number(endTime) : startTime ? addMonths(startAt, SPAN_MONTHS_MAX) : now
  return { startAt, endAt }
}

/** Three months, not a number of days. */
const SPAN_MONTHS_MAX = 3

/** UTC; a day missing in the month becomes its last one. */
function addMonths(at: number, months: number): number {
  const moved = new Date(at)
  const day = moved.getUTCDate()
  moved.setUTCMonth(moved.getUTCMonth() + months)
  if (moved.getUTCDate() !== day) moved.setUTCDate(0)
  return moved.getTime()
}

/** Document: "Only data within 90 days". */
export function historyDepthProblems(span: TimeSpan, { now }: RuleContext): string[] {
  if (now === undefined) return []
  const oldest = now - SPAN_DAYS_MAX * DAY_MS
  return (['startTime', 'endTime'] as const)
    .filter((name) => span[name] && Number(span[name]) < oldest)
    .map(
      (name) => `${name} must lie within the last ${SPAN_DAYS_MAX} days: older data is not served`,
    )
}
