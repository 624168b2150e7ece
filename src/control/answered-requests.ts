import { sha256Hex } from '../lib/digest.ts'
import { type ControlAnswer, type ControlRequest } from './commands.ts'

/** Commands whose answers are remembered: days of an operator's, and an hour of a program that sends one a second. */
const REQUESTS_MAX = 4000
/** Of these so many survive a restart: what may be sent again after a lost answer is one of the last. */
export const REQUESTS_KEPT_MAX = 100
/** What they do ends with the process. */
const OF_THIS_RUN: ReadonlySet<ControlRequest['order']['kind']> = new Set(['logLevel', 'reload'])

/** A command that was obeyed, by its request id. */
export interface AnsweredRequest {
  /** Of the whole request: an id names one command. */
  readonly digest: string
  readonly answer: ControlAnswer
  /** Whether a run after this one knows it. */
  readonly isKept: boolean
}

/** Where the last of them are kept over a restart. */
export interface AnswerStore {
  load(): readonly AnsweredRequest[]
  /** The oldest first. What goes wrong is said there: the command was obeyed. */
  save(answers: readonly AnsweredRequest[]): void
}

/**
 * Commands by their request id: sent again, after a lost answer, one that was obeyed is not obeyed again. A process that dies between
 * obeying and keeping forgets that one; a restriction, a flatten, a release and a kill change nothing the second time.
 */
export class AnsweredRequests {
  readonly #answered: Map<string, AnsweredRequest>
  readonly #store: AnswerStore | undefined

  constructor(store?: AnswerStore) {
    this.#store = store
    this.#answered = new Map(store?.load().map((one) => [one.answer.requestId, one]))
  }

  /** @returns undefined where the id was used for another command. */
  once(request: ControlRequest, obey: () => ControlAnswer): ControlAnswer | undefined {
    const digest = sha256Hex([JSON.stringify(request)])
    const known = this.#answered.get(request.requestId)
    if (known) return known.digest === digest ? asRepeated(known.answer) : undefined
    const answer = obey()
    // It changed nothing: asked again, it may be the time for it.
    if (!answer.isObeyed) return answer
    const isKept = !OF_THIS_RUN.has(request.order.kind)
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

function asRepeated(answer: ControlAnswer): ControlAnswer {
  return { ...answer, text: `sent again; when it came first: ${answer.text}` }
}
