import type { Worker } from 'node:worker_threads'
import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { openProgramThread } from '../../lib/program-thread.ts'
import type { Answered, Reading, ReadingData } from './reading-data.ts'

/** Who asks for more at a time is turned away. */
const WAITING_MAX = 8
/** A reading that takes longer ends with its thread, ms. */
const ANSWER_MS_MAX = 20_000
/** A thread that nobody asks any more ends, ms. */
const IDLE_MS_MAX = 60_000

export interface ReadingsOptions extends ReadingData {
  readonly timers: Timers
}

interface Waiting {
  readonly resolve: (found: unknown) => void
  readonly reject: (error: Failure) => void
  readonly cancel: () => void
}

/**
 * Reads the journal and reports in a thread of its own, which is there while somebody asks: trading waits for none of
 * it.
 */
export class Readings {
  readonly #options: ReadingsOptions
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #cancelIdle = (): void => undefined

  constructor(options: ReadingsOptions) {
    this.#options = options
  }

  /** @throws Failure CONTROL_READING_FAILED */
  ask(reading: Reading): Promise<unknown> {
    const { timers } = this.#options
    this.#cancelIdle()
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(failed('too much is asked for at once'))
    const worker = (this.#worker ??= this.#open())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const cancel = timers.after(ANSWER_MS_MAX, () => this.#end('it took too long'))
      this.#waiting.set(id, { resolve, reject, cancel })
      worker.postMessage({ id, reading })
    })
  }

  stop(): void {
    this.#end('the daemon ends')
  }

  #open(): Worker {
    const { config, journal, backtests } = this.#options
    const { account, instruments } = config
    const workerData: ReadingData = { config: { account, instruments }, journal, backtests }
    const worker = openProgramThread('./reading-thread', import.meta.url, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    worker.unref()
    worker.on('message', (answered: Answered) => this.#take(answered))
    worker.on('error', (error) => worker === this.#worker && this.#end(String(error)))
    return worker
  }

  #take({ id, found, reason }: Answered): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.cancel()
    if (reason === undefined) waiting?.resolve(found)
    else waiting?.reject(failed(reason))
    if (this.#waiting.size === 0)
      this.#cancelIdle = this.#options.timers.after(IDLE_MS_MAX, () => this.stop())
  }

  #end(reason: string): void {
    this.#cancelIdle()
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
    for (const { reject, cancel } of this.#waiting.values()) {
      cancel()
      reject(failed(reason))
    }
    this.#waiting.clear()
  }
}

function failed(reason: string): Failure {
  return new Failure({
    code: 'CONTROL_READING_FAILED',
    sentence: `the journal was not read: ${reason}`,
    hint: '`intentd explain` reads it from another process',
  })
}
