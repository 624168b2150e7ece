import { Readable } from 'node:stream'
import { main } from '../../../src/cli/main.ts'
import { MIDDLEMAN_VARIABLE } from '../../../src/cli/process/middleman.ts'
import type { VerbOptions, VerbRun } from '../../../src/cli/process/run-verb.ts'

/**
 * Commands of the program, as `runVerb` starts them for a chat or an assistant, but in this
 * process: one after the other, since standard streams and environment are the process's.
 */
export class InProcessVerbs {
  /** A planted error: what is run for others passes for the operator's own. */
  forgetsMiddleman = false
  runs = 0
  #last: Promise<unknown> = Promise.resolve()

  readonly run = (options: VerbOptions): Promise<VerbRun> => {
    const next = this.#last.then(() => this.#run(options))
    this.#last = next.catch(() => undefined)
    return next
  }

  async #run({ words, by, input = '' }: VerbOptions): Promise<VerbRun> {
    this.runs += 1
    const [output, aside]: [string[], string[]] = [[], []]
    const { stdout, stderr, env } = process
    const take = (texts: string[]) => (text: string | Uint8Array) => texts.push(String(text)) > 0
    const restores = [
      set(stdout, 'write', take(output)),
      set(stderr, 'write', take(aside)),
      set(process, 'stdin', Readable.from([input])),
    ]
    if (!this.forgetsMiddleman) env[MIDDLEMAN_VARIABLE] = by
    try {
      const code = await main(words)
      return { code, output: output.join(''), aside: aside.join(''), isCut: false }
    } finally {
      for (const restore of restores) restore()
      delete env[MIDDLEMAN_VARIABLE]
    }
  }
}

/** @returns puts back what was there */
function set(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name)
  Object.defineProperty(owner, name, { value, configurable: true, writable: true })
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name)
    else Object.defineProperty(owner, name, before)
  }
}
