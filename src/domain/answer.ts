/**
 * The answer to one call, never a guess.
 *
 * - `accepted`: the envelope says success; each item of a batch still has its own outcome.
 * - `refused`: the exchange, or our own check, says that it was not done. `class` says what follows from that.
 * - `unknown`: a timeout, a lost connection, a 5xx, an unreadable answer, an ambiguous code. It may have been
 *   done, or may still be.
 */
export type Answer<Data> = AcceptedAnswer<Data> | RefusedAnswer | UnknownAnswer

interface AnswerTimes {
  /** Unix ms, exchange clock: `requestTime` of the envelope, if it has one. */
  readonly requestTime?: number
  /** Unix ms, our clock, when the last byte arrived or the wait was given up. */
  readonly receivedAt: number
}

export interface AcceptedAnswer<Data> extends AnswerTimes {
  readonly kind: 'accepted'
  readonly data: Data
}

/**
 * `definite`: not done. `retry`: may be sent again (429, a stale timestamp). `notSent`: no byte has
 * left. `invalid`: our own check refused it, so it was not sent either.
 */
export type RefusalClass = 'definite' | 'retry' | 'notSent' | 'invalid' | 'exists'

export interface RefusedAnswer extends AnswerTimes {
  readonly kind: 'refused'
  readonly class: RefusalClass
  /** The exchange's code, or our own in capitals. */
  readonly code: string
  /** The exchange's topic for the code, such as `auth`, `rate` or `positionMode`. */
  readonly topic: string
  readonly message: string
  readonly status: number | undefined
}

export interface UnknownAnswer extends AnswerTimes {
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

/**
 * Whether the call was stopped before the exchange: the status refuses it without a code of the
 * exchange, as when a proxy or a firewall answers with its own page. It is unknown whether the
 * exchange has received the call.
 */
export function isForbidden(answer: Answer<unknown>): answer is UnknownAnswer {
  return answer.kind === 'unknown' && (answer.status === 401 || answer.status === 403)
}

/**
 * Whether the exchange refuses the key, its rights or this machine's address, independent of the
 * call.
 */
export function refusesKeys(answer: Answer<unknown>): answer is RefusedAnswer {
  return answer.kind === 'refused' && answer.topic === 'auth' && answer.class === 'definite'
}

/**
 * Whether repeating the call would only be refused again until a person has corrected something.
 */
export function isRefusedForGood(answer: Answer<unknown>): boolean {
  return isForbidden(answer) || (answer.kind === 'refused' && answer.class === 'definite')
}

/** "The symbol has been removed", and the older code for the same. Platform facts. */
const REMOVED_CODES: ReadonlySet<string> = new Set(['40102', '40309'])
/** "Parameter BTCUSDT does not exist". */
const UNKNOWN_PARAMETER = '40034'

/** Whether the exchange does not know the instrument of a call, or no longer lists it. */
export function refusesInstrument(answer: Answer<unknown>, symbol: string): boolean {
  if (answer.kind !== 'refused') return false
  return (
    REMOVED_CODES.has(answer.code) ||
    (answer.code === UNKNOWN_PARAMETER && answer.message.includes(symbol))
  )
}

/**
 * Whether the exchange gave no answer to the call: it was lost, a server's page or error came back,
 * or the rate limit refused it. The same call may be answered later.
 */
export function isUnanswered(answer: Answer<unknown>): answer is RefusedAnswer | UnknownAnswer {
  if (answer.kind === 'unknown') return answer.cause !== 'unreadableRow'
  if (answer.kind === 'accepted') return false
  const isPassing =
    answer.class === 'retry' && (answer.topic === 'rate' || answer.topic === 'system')
  return isPassing || (answer.class === 'notSent' && answer.code.startsWith('CONNECT'))
}

/** How the exchange has refused the timestamps of calls that create nothing. */
export interface ClockRefusals {
  /** How many such calls in a row it has refused for their timestamp. */
  readonly inRow: number
  /**
   * How far its clock is ahead of ours by the last of these refusals, ms; undefined: it stated no
   * time.
   */
  readonly aheadMs: number | undefined
}

export const NO_CLOCK_REFUSALS: ClockRefusals = { inRow: 0, aheadMs: undefined }

/**
 * From this many refusals in a row on, every second call is signed with this machine's own time.
 */
const OURS_FROM = 3

/** Whether the exchange refused the timestamp in the signature or the body of the request. */
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

/**
 * How far ahead of ours the clock is that signs the next call, ms: the last refusal's, or
 * alternately our own (0). Undefined: the exchange's clock as we know it.
 */
export function clockAheadAfter({ inRow, aheadMs }: ClockRefusals): number | undefined {
  return inRow >= OURS_FROM && inRow % 2 === 1 ? 0 : aheadMs
}
