import { inspect } from 'node:util'

const HIDDEN = '[hidden]'

/** Text, JSON and the inspector show `[hidden]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}

/** Shorter texts stand in every log by chance. */
const SECRET_LENGTH_MIN = 4

/** The last defence behind `Secret` (SEC1). */
export class HiddenTexts {
  readonly #texts = new Set<string>()

  add(secret: Secret): void {
    const text = secret.reveal()
    if (text.length < SECRET_LENGTH_MIN) return
    this.#texts.add(text)
    this.#texts.add(JSON.stringify(text).slice(1, -1))
  }

  remove(text: string): string {
    let clean = text
    for (const hidden of this.#texts) clean = clean.replaceAll(hidden, HIDDEN)
    return clean
  }
}
