import type { StatusView } from './views.ts'

interface Section {
  readonly text: string
  readonly version: number
}

export class LiveSections {
  readonly #read: () => StatusView
  readonly #monotonic: () => number
  readonly #everyMs: number
  readonly #sections = new Map<string, Section>()
  #readAt = Number.NEGATIVE_INFINITY
  #version = 0

  constructor(options: {
    readonly read: () => StatusView
    readonly monotonic: () => number
    readonly everyMs: number
  }) {
    this.#read = options.read
    this.#monotonic = options.monotonic
    this.#everyMs = options.everyMs
  }

  /** JSON of newer parts; pass the returned `version` next time. */
  since(version: number): { readonly version: number; readonly text: string } {
    this.#refresh()
    const changed = [...this.#sections].filter(([, section]) => section.version > version)
    const text = changed
      .map(([name, section]) => `${JSON.stringify(name)}:${section.text}`)
      .join(',')
    return { version: this.#version, text: text === '' ? '' : `{${text}}` }
  }

  #refresh(): void {
    const now = this.#monotonic()
    if (now - this.#readAt < this.#everyMs) return
    this.#readAt = now
    this.#version += 1
    const { accounts, ...head } = this.#read()
    for (const [name, value] of Object.entries(head)) this.#set(name, value)
    for (const account of accounts) {
      for (const [name, value] of Object.entries(account))
        this.#set(`accounts/${account.name}/${name}`, value)
    }
  }

  #set(name: string, value: unknown): void {
    const text = JSON.stringify(value)
    if (this.#sections.get(name)?.text !== text)
      this.#sections.set(name, { text, version: this.#version })
  }
}
