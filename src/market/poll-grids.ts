import { type Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'
import { PollGrid } from './poll-grid.ts'

export interface PollGridsOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** `what` was polled and failed; it is polled again at its next slot. */
  readonly onError: (what: string, reason: string) => void
}

/** Several things that are polled, each on a grid of its own; they start and stop together. */
export class PollGrids {
  readonly #options: PollGridsOptions
  readonly #grids: PollGrid[] = []

  constructor(options: PollGridsOptions) {
    this.#options = options
  }

  add(what: string, intervalMs: number, poll: () => unknown): PollGrid {
    const { clock, timers, onError } = this.#options
    const grid = new PollGrid({
      intervalMs,
      poll: async () => {
        await poll()
      },
      onError: (error) => onError(what, messageOf(error)),
      clock,
      timers,
    })
    this.#grids.push(grid)
    return grid
  }

  start(): void {
    for (const grid of this.#grids) grid.start()
  }

  /** Resolves when no poll is under way any more. */
  async stop(): Promise<void> {
    await Promise.all(this.#grids.map((grid) => grid.stop()))
  }
}
