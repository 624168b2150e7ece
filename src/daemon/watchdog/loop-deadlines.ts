import { Patience } from '../../lib/patience.ts'
import type { WatchedLoop } from '../../market/poll-grids.ts'

export interface HungLoop {
  readonly loop: string
  readonly hungMs: number
}

export interface LoopDeadlinesOptions {
  readonly loops: readonly WatchedLoop[]
  readonly hungAfterMs: number
  readonly requestTimeoutMs: number
  readonly stepMs: number
}

interface LoopWatch {
  readonly loop: WatchedLoop
  readonly deadlineMs: number
  readonly patience: Patience
}

/**
 * A loop's deadline is its interval, two request timeouts if it calls the exchange, and
 * `hungAfterMs`. It is counted in checks, not in time ({@link Patience}).
 */
export class LoopDeadlines {
  readonly #watching: readonly LoopWatch[]

  constructor({ loops, hungAfterMs, requestTimeoutMs, stepMs }: LoopDeadlinesOptions) {
    this.#watching = loops.map((loop) => {
      const deadlineMs = loop.intervalMs + hungAfterMs + (loop.isCalling ? 2 * requestTimeoutMs : 0)
      return { loop, deadlineMs, patience: new Patience(stepMs) }
    })
  }

  /** Must be called every `stepMs`. */
  check(): HungLoop | undefined {
    const silent = this.#watching.map(({ loop, deadlineMs, patience }) => {
      const hungMs = patience.check(loop.turn())
      return { loop: loop.name, hungMs, isHung: hungMs >= deadlineMs }
    })
    const hung = silent.find(({ isHung }) => isHung)
    return hung && { loop: hung.loop, hungMs: hung.hungMs }
  }
}
