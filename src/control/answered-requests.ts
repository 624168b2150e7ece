import { sha256Hex } from '../lib/digest.ts'
import type { ControlAnswer, ControlRequest } from './commands.ts'

/** Days of an operator's commands, or an hour of one a second. */
const REQUESTS_MAX = 4000
/** A command repeated after a lost answer is one of the last. */
export const REQUESTS_KEPT_MAX = 100
/** Their effect ends with the process. */
const OF_THIS_RUN: ReadonlySet<ControlRequest['order']['kind']> = new Set(['logLevel', 'reload'])

export interface AnsweredRequest {
  /** An id names one command, so the whole request is compared. */
  readonly digest: string
  readonly answer: ControlAnswer
  readonly isKept: boolean
}

export interface AnswerStore {
  load(): readonly AnsweredRequest[]
  /** Oldest first. The store reports its own errors: the command was already obeyed. */
  save(answers: readonly AnsweredRequest[]): void
}

/**
 * A command repeated after a lost answer is not obeyed again. A process that dies between obeying
 * and storing forgets it. The journal knows the keys of trades and entries by hand; repeating a
 * restriction, flatten, release or kill changes nothing.
 */
export class AnsweredRequests {
  readonly #answered: Map<string, AnsweredRequest>
  readonly #earlier: Set<string>
  readonly #store: AnswerStore | undefined

  constructor(store?: AnswerStore) {
    this.#store = store
    this.#answered = new Map(store?.load().map((one) => [one.answer.requestId, one]))
    this.#earlier = new Set(this.#answered.keys())
  }

  /** @returns `unknown`: not obeyed yet; `other`: the id belongs to another command */
  recall(request: ControlRequest): ControlAnswer | 'unknown' | 'other' {
    const known = this.#answered.get(request.requestId)
    if (known === undefined) return 'unknown'
    if (known.digest !== digestOf(request)) return 'other'
    const hasEnded = this.#earlier.has(request.requestId) && isWaiting(request, known.answer)
    return hasEnded ? asForgotten(known.answer) : asRepeated(known.answer)
  }

  /** @returns `other`: the id belongs to another command */
  once(request: ControlRequest, obey: () => ControlAnswer): ControlAnswer | 'other' {
    const known = this.recall(request)
    if (known !== 'unknown') return known
    const digest = digestOf(request)
    const answer = obey()
    // Nothing changed, so repeating it may succeed. A dry run takes no place from an answer.
    if (!answer.isObeyed || ('dryRun' in request.order && request.order.dryRun)) return answer
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

function digestOf(request: ControlRequest): string {
  return sha256Hex([JSON.stringify(request)])
}

/** A release waits for a kill's proof only in its own run. */
function isWaiting({ order }: ControlRequest, { held }: ControlAnswer): boolean {
  return order.kind === 'releaseKill' && held.some(({ code }) => code === 'kill')
}

/** Obeyed again, an old release could release a later kill. */
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
