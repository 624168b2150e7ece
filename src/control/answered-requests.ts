import { sha256Hex } from '../lib/digest.ts'
import { type ControlAnswer, type ControlRequest } from './commands.ts'

/** Commands whose answers are remembered: days of an operator's, and an hour of a program that sends one a second. */
const REQUESTS_MAX = 4000

/**
 * Commands that were obeyed, by their request id: sent again, after a lost answer, one is not obeyed again. After a
 * restart they are forgotten; a restriction, a flatten, a release and a kill change nothing the second time.
 */
export class AnsweredRequests {
  readonly #answers = new Map<string, { readonly digest: string; readonly answer: ControlAnswer }>()

  /** @returns undefined where the id was used for another command. */
  once(request: ControlRequest, obey: () => ControlAnswer): ControlAnswer | undefined {
    const digest = sha256Hex([JSON.stringify(request)])
    const known = this.#answers.get(request.requestId)
    if (known) return known.digest === digest ? known.answer : undefined
    const answer = obey()
    this.#answers.set(request.requestId, { digest, answer })
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= REQUESTS_MAX) break
      this.#answers.delete(oldest)
    }
    return answer
  }
}
