import type { PassedAnswer } from './port-messages.ts'

/** The stream of a page shows states of this age, too. */
const FRESH_MS = 250
const ANSWERS_MAX = 32
/** A longer answer is to a request that is seldom repeated. */
const CHARS_MAX = 262_144

interface SharedAnswer {
  readonly answer: PassedAnswer
  readonly madeAt: number
}

/** Keeps answers to requests that look, so that each is made at most four times a second. */
export class SharedAnswers {
  readonly #monotonic: () => number
  readonly #answers = new Map<string, SharedAnswer>()
  #commands = 0

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** @param target path and query @returns undefined without a fresh answer */
  recall(target: string): PassedAnswer | undefined {
    const known = this.#answers.get(target)
    if (known === undefined || this.#monotonic() - known.madeAt >= FRESH_MS) return undefined
    return known.answer
  }

  /** The number of commands so far: read when a look begins, and given with its answer. */
  get commands(): number {
    return this.#commands
  }

  /**
   * @param commands when the look began; if there was a command since, its answer is outdated and
   * not kept
   */
  keep(target: string, answer: PassedAnswer, commands: number): void {
    if (commands !== this.#commands) return
    this.#answers.delete(target)
    if ((answer.body ?? '').length > CHARS_MAX) return
    this.#answers.set(target, { answer, madeAt: this.#monotonic() })
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest)
  }

  /** Called after each command, because the next look must show it. */
  forget(): void {
    this.#commands += 1
    this.#answers.clear()
  }
}
