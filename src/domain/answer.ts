/**
 * What came back from one call, never a guess.
 *
 * - `accepted`: the envelope says success; each item of a batch still has its own outcome.
 * - `refused`: the exchange, or our own check, says that it was not done. `class` says what follows from that.
 * - `unknown`: a timeout, a lost connection, a 5xx, an unreadable answer, an ambiguous code. It may have been
 *   done, or be done yet.
 */
export type Answer<Data> = AcceptedAnswer<Data> | RefusedAnswer | UnknownAnswer

interface AnswerTimes {
  /** Unix ms, exchange clock: `requestTime` of the envelope, where there is one. */
  readonly requestTime?: number
  /** Unix ms, our clock, when the last byte had arrived or the wait was given up. */
  readonly receivedAt: number
}

export interface AcceptedAnswer<Data> extends AnswerTimes {
  readonly kind: 'accepted'
  readonly data: Data
}

/**
 * `definite`: not done. `retry`: may be sent again (429, a stale timestamp). `notSent`: no byte of it has left. `invalid`:
 * our own check refused it, so it was not sent either.
 */
export type RefusalClass = 'definite' | 'retry' | 'notSent' | 'invalid' | 'exists'

export interface RefusedAnswer extends AnswerTimes {
  readonly kind: 'refused'
  readonly class: RefusalClass
  /** The exchange's code, or ours in capitals. */
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
 * Whether the call came to an end in front of the exchange: a status that refuses it, and no code of the exchange's, as
 * when a proxy or a firewall answers with a page of its own. Nobody knows what the exchange has heard of it.
 */
export function isForbidden(answer: Answer<unknown>): answer is UnknownAnswer {
  return answer.kind === 'unknown' && (answer.status === 401 || answer.status === 403)
}

/** Whether the exchange refuses the key, its rights or the address of this machine, whatever was asked for. */
export function refusesKeys(answer: Answer<unknown>): answer is RefusedAnswer {
  return answer.kind === 'refused' && answer.topic === 'auth' && answer.class === 'definite'
}

/** Whether the same call, made again, would only be refused again, until a person has mended something. */
export function isRefusedForGood(answer: Answer<unknown>): boolean {
  return isForbidden(answer) || (answer.kind === 'refused' && answer.class === 'definite')
}

/** "The symbol has been removed", and its older sibling. Platform facts. */
const REMOVED_CODES: ReadonlySet<string> = new Set(['40102', '40309'])
/** "Parameter BTCUSDT does not exist". */
const UNKNOWN_PARAMETER = '40034'

/** Whether the exchange does not know the instrument of a call, or not any more. */
export function refusesInstrument(answer: Answer<unknown>, symbol: string): boolean {
  if (answer.kind !== 'refused') return false
  return (
    REMOVED_CODES.has(answer.code) ||
    (answer.code === UNKNOWN_PARAMETER && answer.message.includes(symbol))
  )
}

/**
 * Whether the exchange has said nothing to the call: it was lost, a page or an error of a server came back, or the call was
 * one too many. The same call, made later, may be answered.
 */
export function isUnanswered(answer: Answer<unknown>): answer is RefusedAnswer | UnknownAnswer {
  if (answer.kind === 'unknown') return answer.cause !== 'unreadableRow'
  if (answer.kind === 'accepted') return false
  const isPassing =
    answer.class === 'retry' && (answer.topic === 'rate' || answer.topic === 'system')
  return isPassing || (answer.class === 'notSent' && answer.code.startsWith('CONNECT'))
}

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
  return {
    inRow: inRow + 1,
    aheadMs: requestTime === undefined ? undefined : requestTime - receivedAt,
  }
}

/**
 * How far ahead of ours the clock is that the next call is signed with, ms: that of the last refusal or, in turn with it,
 * our own. Undefined: the exchange's, as it is known.
 */
export function clockAheadAfter({ inRow, aheadMs }: ClockRefusals): number | undefined {
  return inRow >= OURS_FROM && inRow % 2 === 1 ? 0 : aheadMs
}
