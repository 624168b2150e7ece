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
  readonly checksMax: number
  turn: number | undefined
  checks: number
}

/**
 * The deadline of each loop: its interval, the time of a call where it makes one, and `hungAfterMs`. Checks are
 * counted, not time: after a machine has slept, or a process was stopped, every loop has its whole deadline.
 */
export class LoopDeadlines {
  readonly #stepMs: number
  readonly #watching: readonly Watching[]

  constructor({ loops, hungAfterMs, requestTimeoutMs, stepMs }: LoopDeadlinesOptions) {
    this.#stepMs = stepMs
    this.#watching = loops.map((loop) => {
      const deadlineMs = loop.intervalMs + hungAfterMs + (loop.isCalling ? 2 * requestTimeoutMs : 0)
      return { loop, checksMax: Math.ceil(deadlineMs / stepMs), turn: undefined, checks: 0 }
    })
  }

  /** Called every `stepMs`: the first loop that has passed its deadline. */
  check(): HungLoop | undefined {
    for (const watching of this.#watching) {
      const turn = watching.loop.turn()
      watching.checks = turn === undefined || turn !== watching.turn ? 0 : watching.checks + 1
      watching.turn = turn
    }
    const hung = this.#watching.find(({ checks, checksMax }) => checks >= checksMax)
    return hung && { loop: hung.loop.name, hungMs: hung.checks * this.#stepMs }
  }
}
