import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'

const AGAIN_MS = 1000
const SAID_EVERY_MS = 60_000

/** Retries while the server is away; reports the outage and its end. */
export class QueueOutage {
  readonly #say: (text: string) => void
  readonly #timers: Timers
  #saidAt: number | undefined

  constructor(say: (text: string) => void, timers: Timers) {
    this.#say = say
    this.#timers = timers
  }

  /** @returns undefined if stopped before success */
  async persist<Result>(
    stop: AbortSignal,
    ask: () => Promise<Result>,
  ): Promise<Result | undefined> {
    while (!stop.aborted) {
      try {
        const result = await ask()
        if (this.#saidAt !== undefined) this.#say('the queue answers again')
        this.#saidAt = undefined
        return result
      } catch (error) {
        this.#hear(error)
        await pause(this.#timers, AGAIN_MS, stop)
      }
    }
    return undefined
  }

  #hear(error: unknown): void {
    const now = systemClock.monotonic()
    if (this.#saidAt !== undefined && now - this.#saidAt < SAID_EVERY_MS) return
    this.#saidAt = now
    this.#say(`the queue does not answer, and is asked again: ${messageOf(error)}`)
  }
}

export function pause(
  timers: Timers,
  ms: number,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = timers.after(ms, end)
    for (const signal of signals) signal.addEventListener('abort', end)
  })
}
