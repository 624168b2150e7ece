import type { PassedAnswer } from './port-messages.ts'

/** As old as what a page's stream shows. */
const FRESH_MS = 250
const ANSWERS_MAX = 32
/** Longer ones are of requests that differ. */
const CHARS_MAX = 262_144

interface SharedAnswer {
  readonly answer: PassedAnswer
  readonly madeAt: number
}

/** Answers in JSON to requests that look: what many ask for is made at most four times a second. */
export class SharedAnswers {
  readonly #monotonic: () => number
  readonly #answers = new Map<string, SharedAnswer>()
  #commands = 0

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** @param target path and query @returns undefined if none is fresh */
  recall(target: string): PassedAnswer | undefined {
    const known = this.#answers.get(target)
    if (known === undefined || this.#monotonic() - known.madeAt >= FRESH_MS) return undefined
    return known.answer
  }

  /** Commands so far: taken when a read begins, and given with its answer. */
  get commands(): number {
    return this.#commands
  }

  /** @param commands a read that began before a command shows nothing of it, so it is not kept */
  keep(target: string, answer: PassedAnswer, commands: number): void {
    if (commands !== this.#commands) return
    this.#answers.delete(target)
    if ((answer.body ?? '').length > CHARS_MAX) return
    this.#answers.set(target, { answer, madeAt: this.#monotonic() })
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest)
  }

  /** A command was obeyed, so whoever looks next must see it. */
  forget(): void {
    this.#commands += 1
    this.#answers.clear()
  }
}
