import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, messageOf } from '../lib/failure.ts'
import type { TrialRow } from '../sweep/trial.ts'
import { makeDirectory } from '../lib/durable-file.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

const LOG_FILE = 'trials.jsonl'

/** A killed sweep continues from this log, and the number of tries is never lost. */
export class TrialLog {
  readonly #file: string
  readonly #rows = new Map<string, TrialRow>()

  /** @throws Failure SWEEP_UNWRITABLE */
  constructor(directory: string) {
    this.#file = join(directory, LOG_FILE)
    this.#write(() => makeDirectory(directory))
    if (existsSync(this.#file)) this.#write(() => this.#read())
  }

  find(id: string): TrialRow | undefined {
    return this.#rows.get(id)
  }

  add(row: TrialRow): void {
    this.#rows.set(row.id, row)
    this.#write(() => appendFileSync(this.#file, `${JSON.stringify(row)}\n`))
  }

  /** Distinct, with any configuration and code. */
  countTries(prices: string): number {
    return new Set(
      [...this.#rows.values()].filter((row) => row.prices === prices).map(({ tried }) => tried),
    ).size
  }

  /** Drops a line that a kill cut off; trials that timed out are tried again. */
  #read(): void {
    const text = readFileSync(this.#file, 'utf8')
    const end = text.lastIndexOf('\n') + 1
    if (end < text.length) truncateSync(this.#file, Buffer.byteLength(text.slice(0, end)))
    for (const line of text.slice(0, end).split('\n')) {
      if (line === '') continue
      const row = parseBoundedJson(line) as TrialRow
      if (!('failed' in row.outcome && row.outcome.isTimeOut === true)) this.#rows.set(row.id, row)
    }
  }

  #write(work: () => unknown): void {
    try {
      work()
    } catch (cause) {
      throw new Failure({
        code: 'SWEEP_UNWRITABLE',
        sentence: 'the results of the sweep cannot be written there',
        facts: { file: this.#file, found: messageOf(cause) },
        hint: 'name a directory with --out where this user may write',
        cause,
      })
    }
  }
}
