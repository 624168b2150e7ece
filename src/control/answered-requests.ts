import { systemClock } from '../lib/clock.ts'
import { sha256Hex } from '../lib/digest.ts'
import { systemTimers, type Timers } from '../lib/timers.ts'
import type { ControlAnswer, ControlRequest } from './commands.ts'
import type { CommandOutcome } from './controlled.ts'

/** Days of an operator's commands, or an hour of one a second. */
const REQUESTS_MAX = 4000
/** A command that is repeated after a lost answer is one of the last. */
export const REQUESTS_KEPT_MAX = 100
/** An id that begins with its time, Unix ms, says how old the request is. */
const DATED_ID = /^(\d{13})[-:._]/
/** A kill that is refused because a clock is wrong is worse than one that is carried out twice. */
const NEVER_OUTDATED: ReadonlySet<ControlRequest['order']['kind']> = new Set(['restrict', 'kill'])
/** Commands whose effect ends with the process. */
const OF_THIS_RUN: ReadonlySet<ControlRequest['order']['kind']> = new Set(['logLevel', 'reload'])

/** The command line waits one second longer for an answer. */
export const WRITTEN_WITHIN_MS = 3000

export interface AnsweredRequest {
  /** Covers the whole request, because an id names one command. */
  readonly digest: string
  readonly answer: ControlAnswer
  readonly isKept: boolean
  /** Unix ms; absent in files of earlier versions. */
  readonly answeredAt?: number | undefined
}

export interface AnswerStore {
  load(): readonly AnsweredRequest[]
  /**
   * Oldest first. The store reports its own errors, because the command has been carried out
   * already.
   */
  save(answers: readonly AnsweredRequest[]): void
}

/**
 * `other`: the id belongs to another command. `outdated`: the command may have been carried out and
 * forgotten.
 */
export type Unanswered = 'other' | 'outdated'

/** A command whose record is not known to be durable. */
interface UnwrittenRequest {
  readonly digest: string
  readonly settled: Promise<ControlAnswer>
  readonly meanwhile: ControlAnswer
}

interface AnsweredOptions {
  readonly store?: AnswerStore | undefined
  /** Unix ms. */
  readonly now?: () => number
  readonly timers?: Timers
}

/**
 * A command counts as obeyed, and its answer is kept, once its record is durable. Until then it is
 * answered as uncertain, and one that is repeated waits for the same record. A refusal waits in the
 * same way for what it rests on, but is not kept. An order by hand that
 * was dropped while it waited is answered as dropped from then on.
 *
 * A command that is repeated after a lost answer is not carried out again. An id with a time before
 * all that is remembered is refused, because a release or a flatten that is repeated months later
 * would end or close something else. A process that dies before it stores an answer forgets the
 * command, except trades and entries by hand, whose keys are in the journal.
 */
export class AnsweredRequests {
  readonly #answered: Map<string, AnsweredRequest>
  readonly #earlier: Set<string>
  readonly #store: AnswerStore | undefined
  readonly #now: () => number
  readonly #timers: Timers
  readonly #unwritten = new Map<string, UnwrittenRequest>()
  /** Requests answered before this may be forgotten. */
  #forgottenUntil = Number.NEGATIVE_INFINITY

  constructor({
    store,
    now = () => systemClock.now(),
    timers = systemTimers,
  }: AnsweredOptions = {}) {
    this.#store = store
    this.#now = now
    this.#timers = timers
    const loaded = store?.load() ?? []
    this.#answered = new Map(loaded.map((one) => [one.answer.requestId, one]))
    this.#earlier = new Set(this.#answered.keys())
    const [oldest] = loaded
    if (oldest !== undefined && loaded.length >= REQUESTS_KEPT_MAX)
      this.#forgottenUntil = oldest.answeredAt ?? now()
  }

  /** @returns `unknown`: not carried out yet */
  recall(request: ControlRequest): ControlAnswer | 'unknown' | Unanswered {
    const known = this.#answered.get(request.requestId)
    if (known === undefined) return this.#isOutdated(request) ? 'outdated' : 'unknown'
    if (known.digest !== digestOf(request)) return 'other'
    const hasEnded = this.#earlier.has(request.requestId) && isWaiting(request, known.answer)
    return hasEnded ? asForgotten(known.answer) : asRepeated(known.answer)
  }

  /**
   * Waits as a repeated command does, and carries nothing out. @returns `unknown`: it was refused,
   * was never confirmed, or is forgotten
   */
  async follow(request: ControlRequest): Promise<ControlAnswer | 'unknown' | Unanswered> {
    const before = this.#unwritten.get(request.requestId)
    if (before === undefined) return this.recall(request)
    return before.digest === digestOf(request)
      ? asRepeated(await this.#answerSoon(before))
      : 'other'
  }

  /** @param obey called at once, or not at all */
  async once(
    request: ControlRequest,
    obey: () => CommandOutcome,
  ): Promise<ControlAnswer | Unanswered> {
    const { requestId, order } = request
    const digest = digestOf(request)
    const before = this.#unwritten.get(requestId)
    if (before !== undefined)
      return before.digest === digest ? asRepeated(await this.#answerSoon(before)) : 'other'
    const known = this.recall(request)
    if (known !== 'unknown') return known
    const { answer, written, unwritten = '' } = obey()
    // A refused command changed nothing, so repeating it may succeed. A dry run is not kept either.
    const isKept = answer.isObeyed && !('dryRun' in order && order.dryRun)
    if (written === undefined) return isKept ? this.#note(request, digest, answer) : answer
    const settled = written.then((lasting) => {
      this.#unwritten.delete(requestId)
      return isKept && !lasting.isUncertain ? this.#note(request, digest, lasting) : lasting
    })
    const missing = answer.isObeyed ? 'it' : 'what the refusal rests on'
    const rest = answer.isObeyed ? unwritten : `${unwritten}: ${answer.text}`
    const waiting = {
      digest,
      settled,
      meanwhile: asUncertain(answer, `${UNCONFIRMED} ${missing} yet; ${rest}`),
    }
    this.#unwritten.set(requestId, waiting)
    dropOldest(this.#unwritten)
    return this.#answerSoon(waiting)
  }

  async #answerSoon({ settled, meanwhile }: UnwrittenRequest): Promise<ControlAnswer> {
    const { promise, resolve } = Promise.withResolvers<ControlAnswer>()
    const cancel = this.#timers.after(WRITTEN_WITHIN_MS, () => resolve(meanwhile))
    const answer = await Promise.race([settled, promise])
    cancel()
    return answer
  }

  #note({ requestId, order }: ControlRequest, digest: string, answer: ControlAnswer) {
    const isKept = !OF_THIS_RUN.has(order.kind)
    this.#earlier.delete(requestId)
    this.#answered.set(requestId, { digest, answer, isKept, answeredAt: this.#now() })
    for (const { answeredAt } of dropOldest(this.#answered))
      this.#forgottenUntil = answeredAt ?? this.#now()
    if (isKept) this.#keep()
    return answer
  }

  /** A request without a time in its id counts as sent when it arrives. */
  #isOutdated({ requestId, order }: ControlRequest): boolean {
    const [, sentAt] = DATED_ID.exec(requestId) ?? []
    if (sentAt === undefined || NEVER_OUTDATED.has(order.kind)) return false
    return Number(sentAt) <= this.#forgottenUntil
  }

  #keep(): void {
    const kept = [...this.#answered.values()].filter(({ isKept }) => isKept)
    this.#store?.save(kept.slice(-REQUESTS_KEPT_MAX))
  }
}

const UNCONFIRMED = `not confirmed: ${WRITTEN_WITHIN_MS / 1000} s later the journal does not have`

export function asUncertain(answer: ControlAnswer, text: string): ControlAnswer {
  return { ...answer, isObeyed: false, isUncertain: true, text }
}

function dropOldest<Item>(items: Map<string, Item>): readonly Item[] {
  const dropped: Item[] = []
  for (const [id, item] of items) {
    if (items.size <= REQUESTS_MAX) break
    items.delete(id)
    dropped.push(item)
  }
  return dropped
}

function digestOf(request: ControlRequest): string {
  return sha256Hex([JSON.stringify(request)])
}

/** A release that waits for the proof of a kill waits only in this run. */
function isWaiting({ order }: ControlRequest, { held }: ControlAnswer): boolean {
  return order.kind === 'releaseKill' && held.some(({ code }) => code === 'kill')
}

/** An old release that is carried out again could release a later kill. */
function asForgotten(answer: ControlAnswer): ControlAnswer {
  return {
    ...answer,
    isObeyed: false,
    text: 'it waited for the proof of a kill, and the daemon has ended since: where status says that the kill still stands, order its release under another request id',
  }
}

export function asRepeated(answer: ControlAnswer): ControlAnswer {
  return { ...answer, text: `sent again; when it came first: ${answer.text}` }
}
