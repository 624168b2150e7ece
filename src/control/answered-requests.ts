import { sha256Hex } from '../lib/digest.ts'
import type { ControlAnswer, ControlRequest } from './commands.ts'

/**
 * How many answered commands are remembered: days of an operator's, and an hour of a program that
 * sends one a second.
 */
const REQUESTS_MAX = 4000
/**
 * How many of these survive a restart: a command that is repeated after a lost answer is one of the
 * last.
 */
export const REQUESTS_KEPT_MAX = 100
/** Commands whose effect ends with the process. */
const OF_THIS_RUN: ReadonlySet<ControlRequest['order']['kind']> = new Set(['logLevel', 'reload'])

/** A command that was obeyed, by its request id. */
export interface AnsweredRequest {
  /** Digest of the whole request: an id names one command. */
  readonly digest: string
  readonly answer: ControlAnswer
  /** Whether later runs know it. */
  readonly isKept: boolean
}

/** Stores the last answers across restarts. */
export interface AnswerStore {
  load(): readonly AnsweredRequest[]
  /** The oldest first. The store reports its own errors, since the command was already obeyed. */
  save(answers: readonly AnsweredRequest[]): void
}

/**
 * Obeyed commands by their request id. A command repeated after a lost answer is not obeyed again.
 * A process that dies between obeying and storing forgets that command; repeating a restriction, a
 * flatten, a release or a kill changes nothing.
 */
export class AnsweredRequests {
  readonly #answered: Map<string, AnsweredRequest>
  /** Ids that an earlier run has answered. */
  readonly #earlier: Set<string>
  readonly #store: AnswerStore | undefined

  constructor(store?: AnswerStore) {
    this.#store = store
    this.#answered = new Map(store?.load().map((one) => [one.answer.requestId, one]))
    this.#earlier = new Set(this.#answered.keys())
  }

  /** @returns undefined if the id was used for another command. */
  once(request: ControlRequest, obey: () => ControlAnswer): ControlAnswer | undefined {
    const digest = sha256Hex([JSON.stringify(request)])
    const known = this.#answered.get(request.requestId)
    if (known) {
      if (known.digest !== digest) return undefined
      const hasEnded = this.#earlier.has(request.requestId) && isWaiting(request, known.answer)
      return hasEnded ? asForgotten(known.answer) : asRepeated(known.answer)
    }
    const answer = obey()
    // The command changed nothing, so repeating it may succeed.
    if (!answer.isObeyed) return answer
    const isKept = !OF_THIS_RUN.has(request.order.kind)
    this.#earlier.delete(request.requestId)
    this.#answered.set(request.requestId, { digest, answer, isKept })
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= REQUESTS_MAX) break
      this.#answered.delete(oldest)
    }
    if (isKept) this.#keep()
    return answer
  }

  #keep(): void {
    const kept = [...this.#answered.values()].filter(({ isKept }) => isKept)
    this.#store?.save(kept.slice(-REQUESTS_KEPT_MAX))
  }
}

/** A release waits for the proof of a kill only in the run that received it. */
function isWaiting({ order }: ControlRequest, { held }: ControlAnswer): boolean {
  return order.kind === 'releaseKill' && held.some(({ code }) => code === 'kill')
}

/** The answer to a release of an earlier run: obeyed again, it could release a later kill. */
function asForgotten(answer: ControlAnswer): ControlAnswer {
  return {
    ...answer,
    isObeyed: false,
    text: 'it waited for the proof of a kill, and the daemon has ended since: where status says that the kill still stands, order its release under another request id',
  }
}

function asRepeated(answer: ControlAnswer): ControlAnswer {
  return { ...answer, text: `sent again; when it came first: ${answer.text}` }
}
