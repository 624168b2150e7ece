import { messageOf } from '../src/lib/failure.ts'

/** What a case has compared, as a line for people. Thrown errors fail it. */
export type Case = () => Promise<string>

/** Thrown by a case that cannot be tried here. */
export class Skipped extends Error {}

/** Counts the cases and prints a line each. */
export class Report {
  #passed = 0
  #failed = 0
  #skipped = 0
  #before: () => void = () => {}
  /** Only cases whose title holds this text are tried; empty: all. */
  readonly #only: string

  constructor(only = '') {
    this.#only = only
  }

  /** Done before each case from now on. */
  beforeEach(before: () => void): void {
    this.#before = before
  }

  /** Tries a case; a failing one does not stop the others. */
  async try(title: string, run: Case): Promise<void> {
    if (!title.includes(this.#only)) return
    this.#before()
    try {
      const compared = await run()
      this.#passed++
      print('pass', title, compared)
    } catch (error) {
      if (error instanceof Skipped) {
        this.#skipped++
        print('skip', title, error.message)
        return
      }
      this.#failed++
      print('FAIL', title, toLine(error))
    }
  }

  /** The closing line, alone; what was skipped stands above it. */
  close(): { readonly failed: number } {
    if (this.#skipped > 0) process.stdout.write(`${this.#skipped} skipped\n`)
    process.stdout.write(`${this.#passed} passed, ${this.#failed} failed\n`)
    return { failed: this.#failed }
  }
}

const TITLE_WIDTH = 58
const LINE_CHARS_MAX = 400

function print(verdict: string, title: string, compared: string): void {
  process.stdout.write(`${verdict}  ${title.padEnd(TITLE_WIDTH)}  ${compared}\n`)
}

/** Clients throw errors, plain objects and texts; each becomes one line. */
function toLine(error: unknown): string {
  const isPlain = typeof error === 'object' && error !== null && !(error instanceof Error)
  const line = isPlain
    ? `${pickText(error, 'code')} ${JSON.stringify(field(error, 'body'))}`
    : messageOf(error)
  return line.replaceAll(/\s+/g, ' ').slice(0, LINE_CHARS_MAX)
}

function pickText(error: object, name: string): string {
  const value = field(error, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function field(error: object, name: string): unknown {
  return (error as Record<string, unknown>)[name]
}
