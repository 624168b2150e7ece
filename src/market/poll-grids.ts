import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import type { Timers } from '../lib/timers.ts'
import { PollGrid } from './poll-grid.ts'

export interface PollGridsOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly onError: (what: string, reason: string) => void
}

export interface PollLoop {
  readonly name: string
  readonly intervalMs: number
  /** Undefined while the grid is stopped. */
  readonly turn: () => number | undefined
}

/** A loop hangs when its turn stays the same for too long. */
export interface WatchedLoop extends PollLoop {
  readonly isCalling: boolean
}

export class PollGrids {
  readonly #options: PollGridsOptions
  readonly #grids = new Map<string, { readonly intervalMs: number; readonly grid: PollGrid }>()

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
    this.#grids.set(what, { intervalMs, grid })
    return grid
  }

  get loops(): readonly PollLoop[] {
    return [...this.#grids].map(([name, { intervalMs, grid }]) => ({
      name,
      intervalMs,
      turn: () => grid.turn,
    }))
  }

  start(): void {
    for (const { grid } of this.#grids.values()) grid.start()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#grids.values()].map(({ grid }) => grid.stop()))
  }
}
