import type { Answer } from './answer.ts'

/** What the exchange says to the time of calls that create nothing, while it refuses it. */
export interface ClockRefusals {
  /** How many such calls in a row it has refused for their time. */
  readonly inRow: number
  /** How far its clock is ahead of ours by the last of these refusals, ms; undefined: it named no time. */
  readonly aheadMs: number | undefined
}

export const NO_CLOCK_REFUSALS: ClockRefusals = { inRow: 0, aheadMs: undefined }

/** From this many refusals in a row on, every second call is signed with this machine's own time. */
const OURS_FROM = 3

/** Whether the exchange refused the time that the request was signed with, or has in its body. */
export function isClockRefused(answer: Answer<unknown>): boolean {
  return answer.kind === 'refused' && answer.topic === 'clock'
}

export function hearOfClock({ inRow }: ClockRefusals, answer: Answer<unknown>): ClockRefusals {
  if (!isClockRefused(answer)) return NO_CLOCK_REFUSALS
  const { requestTime, receivedAt } = answer
  return { inRow: inRow + 1, aheadMs: requestTime === undefined ? undefined : requestTime - receivedAt }
}

/**
 * How far ahead of ours the clock is that the next call is signed with, ms: that of the last refusal or, in turn with it,
 * our own. Undefined: the exchange's, as it is known.
 */
export function clockAheadAfter({ inRow, aheadMs }: ClockRefusals): number | undefined {
  return inRow >= OURS_FROM && inRow % 2 === 1 ? 0 : aheadMs
}
