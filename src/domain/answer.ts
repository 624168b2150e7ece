/**
 * `refused` may also be our own check. `unknown` (a timeout, a lost connection, a 5xx, an
 * unreadable answer, an ambiguous code) may have been done, or may still be.
 */
export type Answer<Data> = AcceptedAnswer<Data> | RefusedAnswer | UnknownAnswer

interface AnswerStamps {
  /** Exchange clock, from the envelope. */
  readonly requestTime?: number
  /** When the last byte arrived, or the wait was given up. */
  readonly receivedAt: number
}

export interface AcceptedAnswer<Data> extends AnswerStamps {
  readonly kind: 'accepted'
  readonly data: Data
}

/**
 * `definite`: not done. `retry`: may be sent again (429, a stale timestamp). `notSent`: no byte has
 * left. `invalid`: our own check refused it.
 */
export type RefusalClass = 'definite' | 'retry' | 'notSent' | 'invalid' | 'exists'

/** The code of calls that a dry run withholds. */
export const DRY_RUN_CODE = 'DRY_RUN'

export interface RefusedAnswer extends AnswerStamps {
  readonly kind: 'refused'
  readonly class: RefusalClass
  readonly code: string
  readonly topic: string
  readonly message: string
  readonly status: number | undefined
}

export interface UnknownAnswer extends AnswerStamps {
  readonly kind: 'unknown'
  readonly cause:
    | 'timeout'
    | 'connectionLost'
    | 'serverError'
    | 'unreadable'
    | 'unreadableRow'
    | 'ambiguousCode'
    | 'tooLarge'
  readonly code: string
  readonly message: string
  readonly status: number | undefined
}

/** A proxy may have answered, so it is unknown whether the exchange has the call. */
export function isForbidden(answer: Answer<unknown>): answer is UnknownAnswer {
  return answer.kind === 'unknown' && (answer.status === 401 || answer.status === 403)
}

export function refusesKeys(answer: Answer<unknown>): answer is RefusedAnswer {
  return answer.kind === 'refused' && answer.topic === 'auth' && answer.class === 'definite'
}

/** The call is refused until a person has corrected something. */
export function isRefusedForGood(answer: Answer<unknown>): boolean {
  return isForbidden(answer) || (answer.kind === 'refused' && answer.class === 'definite')
}

/** Platform facts: "The symbol has been removed", and the older code for it. */
const REMOVED_CODES: ReadonlySet<string> = new Set(['40102', '40309'])
/** "Parameter BTCUSDT does not exist". */
const UNKNOWN_PARAMETER = '40034'

export function refusesInstrument(answer: Answer<unknown>, symbol: string): boolean {
  if (answer.kind !== 'refused') return false
  return (
    REMOVED_CODES.has(answer.code) ||
    (answer.code === UNKNOWN_PARAMETER && answer.message.includes(symbol))
  )
}

export function isUnanswered(answer: Answer<unknown>): answer is RefusedAnswer | UnknownAnswer {
  if (answer.kind === 'unknown') return answer.cause !== 'unreadableRow'
  if (answer.kind === 'accepted') return false
  const isPassing =
    answer.class === 'retry' && (answer.topic === 'rate' || answer.topic === 'system')
  return isPassing || (answer.class === 'notSent' && answer.code.startsWith('CONNECT'))
}

export interface ClockRefusals {
  /** Calls that create orders do not count. */
  readonly inRow: number
  /** The exchange's clock less ours; undefined if the refusal stated no time. */
  readonly aheadMs: number | undefined
}

export const NO_CLOCK_REFUSALS: ClockRefusals = { inRow: 0, aheadMs: undefined }

/** From so many refusals on, every second call is signed with this machine's own time. */
const OURS_FROM = 3

export function isClockRefused(answer: Answer<unknown>): boolean {
  return answer.kind === 'refused' && answer.topic === 'clock'
}

export function hearOfClock({ inRow }: ClockRefusals, answer: Answer<unknown>): ClockRefusals {
  if (!isClockRefused(answer)) return NO_CLOCK_REFUSALS
  const { requestTime, receivedAt } = answer
  return {
    inRow: inRow + 1,
    aheadMs: requestTime === undefined ? undefined : requestTime - receivedAt,
  }
}

/** Undefined: sign with the exchange's clock as we know it. */
export function clockAheadAfter({ inRow, aheadMs }: ClockRefusals): number | undefined {
  return inRow >= OURS_FROM && inRow % 2 === 1 ? 0 : aheadMs
}
