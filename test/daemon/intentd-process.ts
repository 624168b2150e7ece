import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type RunSummary } from '../../src/views/summary.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))

/** Far above what any wait here takes on a busy machine, below the test's own limit. */
const WAIT_MS_MAX = 240_000

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly [field: string]: unknown
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProcessOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Loaded before the program, one after the other. */
  readonly preload?: string | readonly string[] | undefined
  /** What stands before the command. It replaces itself with what comes after. */
  readonly within?: readonly string[]
  /** The longest that anything is waited for, ms. Default four minutes. */
  readonly waitMsMax?: number
}

/** Everything that was started, for {@link killLeftOver}. */
const started = new Set<IntentdProcess>()

/** The real program in a process of its own. Nothing waits for time: only for what it says, and for its end. */
export class IntentdProcess {
  readonly stdout: string[] = []
  readonly stderr: string[] = []
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #waitMsMax: number
  readonly #listeners = new Set<() => void>()
  readonly #log: LogLine[] = []
  /** Conditions look at every line that comes: what they look for is at hand. */
  readonly #byEvent = new Map<string, LogLine[]>()

  constructor(args: readonly string[], options: ProcessOptions) {
    const { cwd, env = {}, preload = [], within = [], waitMsMax = WAIT_MS_MAX } = options
    this.#waitMsMax = waitMsMax
    const { INTENTD_API_KEY: _key, INTENTD_API_SECRET: _secret, ...inherited } = process.env
    const nodeArgs = [preload].flat().flatMap((module) => ['--import', module])
    const [program = '', ...all] = [...within, process.execPath, ...nodeArgs, LAUNCHER, ...args]
    this.#child = spawn(program, all, {
      cwd,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.add(this)
    const { stdout, stderr } = this.#child
    if (!stdout || !stderr) throw new Error('unreachable: both are pipes')
    for (const [stream, lines] of [
      [stdout, this.stdout] as const,
      [stderr, this.stderr] as const,
    ]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        if (line.startsWith('{"level"')) this.#keep(JSON.parse(line) as LogLine)
        this.#notify()
      })
    }
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      started.delete(this)
      this.#notify()
      return { code, signal }
    })
  }

  /** Log lines so far, whichever way they went. */
  get log(): readonly LogLine[] {
    return this.#log
  }

  events(event: string): readonly LogLine[] {
    return this.#byEvent.get(event) ?? []
  }

  /** The closing object of `--summary json`. */
  get summary(): RunSummary {
    return JSON.parse(this.stdout.at(-1) ?? '') as RunSummary
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves as soon as the condition holds. @throws when the process ends before, or it takes too long. */
  async until(what: string, condition: () => boolean): Promise<void> {
    if (condition()) return
    await new Promise<void>((resolve, reject) => {
      const give = (finish: () => void): void => {
        clearTimeout(timer)
        this.#listeners.delete(look)
        finish()
      }
      const fail = (why: string) =>
        give(() =>
          reject(
            new Error(
              `${why} before: ${what}\n${[...this.stdout, ...this.stderr].slice(-15).join('\n')}`,
            ),
          ),
        )
      const timer = setTimeout(() => fail('too long'), this.#waitMsMax)
      const look = (): void => {
        if (condition()) give(resolve)
        else if (!started.has(this)) fail('ended')
      }
      this.#listeners.add(look)
      // It may have ended before anybody asked.
      look()
    })
  }

  /** Resolves with the first line of that event. */
  async untilEvent(event: string, times = 1): Promise<LogLine> {
    await this.until(`${times} ${event}`, () => this.events(event).length >= times)
    const line = this.events(event)[times - 1]
    if (!line) throw new Error('unreachable: it was there')
    return line
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.kill(signal)
    return this.ended
  }

  #keep(line: LogLine): void {
    this.#log.push(line)
    const same = this.#byEvent.get(line.event)
    if (same) same.push(line)
    else this.#byEvent.set(line.event, [line])
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Ends what a failed test has left behind. */
export async function killLeftOver(): Promise<void> {
  await Promise.all([...started].map((left) => left.stop('SIGKILL')))
}
