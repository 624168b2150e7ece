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
    const { stdin, stdout, stderr, env } = process
    const before = { stdin, write: stdout.write, writeAside: stderr.write }
    const takeInto = (texts: string[]) =>
      ((text: string | Uint8Array) => texts.push(String(text)) > 0) as typeof stdout.write
    stdout.write = takeInto(output)
    stderr.write = takeInto(aside)
    Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true })
    if (!this.forgetsMiddleman) env[MIDDLEMAN_VARIABLE] = by
    try {
      const code = await main(words)
      return { code, output: output.join(''), aside: aside.join(''), isCut: false }
    } finally {
      stdout.write = before.write
      stderr.write = before.writeAside
      Object.defineProperty(process, 'stdin', { value: before.stdin, configurable: true })
      delete env[MIDDLEMAN_VARIABLE]
    }
  }
}
