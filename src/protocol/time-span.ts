import { type RuleContext } from './endpoint.ts'

/** Rules on `startTime` and `endTime`, Unix ms in strings. Document: Limits. */

const DAY_MS = 24 * 3_600_000

/** Document: "maximum interval 90 days", and how far back the history of spot orders goes. */
const SPAN_DAYS_MAX = 90

export interface TimeSpan {
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
}

/** True where one of the two is missing: the exchange then supplies it. */
export function isWithin90Days({ startTime, endTime }: TimeSpan): boolean {
  if (!startTime || !endTime) return true
  return Number(endTime) - Number(startTime) <= SPAN_DAYS_MAX * DAY_MS
}

/** Calendar months in UTC: the last day of a shorter month ends it. True where one of the two is missing. */
export function isWithinThreeMonths({ startTime, endTime }: TimeSpan): boolean {
  if (!startTime || !endTime) return true
  const latest = new Date(Number(startTime))
  const day = latest.getUTCDate()
  latest.setUTCMonth(latest.getUTCMonth() + 3)
  if (latest.getUTCDate() !== day) latest.setUTCDate(0)
  return Number(endTime) <= latest.getTime()
}

/** Document: "Only data within 90 days". */
export function historyDepthProblems(span: TimeSpan, { now }: RuleContext): string[] {
  if (now === undefined) return []
  const oldest = now - SPAN_DAYS_MAX * DAY_MS
  return (['startTime', 'endTime'] as const)
    .filter((name) => span[name] && Number(span[name]) < oldest)
    .map((name) => `${name} must lie within the last ${SPAN_DAYS_MAX} days: older data is not served`)
}
