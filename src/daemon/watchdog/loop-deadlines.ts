import { Patience } from '../../lib/patience.ts'
import type { WatchedLoop } from '../../market/poll-grids.ts'

/** One that hangs, and for how long it was watched doing nothing, ms. */
export interface HungLoop {
  readonly loop: string
  readonly hungMs: number
}

export interface LoopDeadlinesOptions {
  readonly loops: readonly WatchedLoop[]
  /** For what waits for nobody, ms. */
  readonly hungAfterMs: number
  /** A call may take so long for its grant, and so long again for its answer, ms. */
  readonly requestTimeoutMs: number
  /** Between two checks, ms. */
  readonly stepMs: number
}

interface Watching {
  readonly loop: WatchedLoop
  readonly deadlineMs: number
  readonly patience: Patience
}

/**
 * The deadline of each loop: its interval, the time of a call where it makes one, and `hungAfterMs`. It is counted in
 * checks, not in time ({@link Patience}).
 */
export class LoopDeadlines {
  readonly #watching: readonly Watching[]

  constructor({ loops, hungAfterMs, requestTimeoutMs, stepMs }: LoopDeadlinesOptions) {
    this.#watching = loops.map((loop) => {
      const deadlineMs = loop.intervalMs + hungAfterMs + (loop.isCalling ? 2 * requestTimeoutMs : 0)
      return { loop, deadlineMs, patience: new Patience(stepMs) }
    })
  }

  /** Called every `stepMs`: the first loop that has passed its deadline. */
  check(): HungLoop | undefined {
    const silent = this.#watching.map(({ loop, deadlineMs, patience }) => {
      const hungMs = patience.check(loop.turn())
      return { loop: loop.name, hungMs, isHung: hungMs >= deadlineMs }
    })
    const hung = silent.find(({ isHung }) => isHung)
    return hung && { loop: hung.loop, hungMs: hung.hungMs }
  }
}
