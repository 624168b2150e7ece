import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'

interface Due {
  readonly at: number
  readonly run: () => void
}

/**
 * Virtual time: things are due at instants of the exchange's clock (Unix ms), and happen one after the
 * other, at one instant in the order in which they were scheduled.
 */
export class VirtualTime {
  /** What happens next is last. It is a short list: a few calls and timers of one account. */
  readonly #dues: Due[] = []
  #now: number
  /** A machine whose clock is the exchange's. */
  readonly clock: Clock

  /** @param startAt Unix ms. */
  constructor(startAt: number) {
    this.#now = startAt
    this.clock = { now: () => this.#now, monotonic: () => this.#now - startAt }
  }

  /** Unix ms, exchange clock. */
  get now(): number {
    return this.#now
  }

  /** Timers that can be cancelled, for what is written against the daemon's. */
  readonly timers: Timers = {
    after: (delayMs, callback) => {
      let isCancelled = false
      this.after(delayMs, () => {
        if (!isCancelled) callback()
      })
      return () => {
        isCancelled = true
      }
    },
  }

  after(delayMs: number, run: () => void): void {
    const dues = this.#dues
    const due = { at: this.#now + Math.max(0, Math.round(delayMs)), run }
    let index = dues.push(due) - 1
    for (; index > 0; index--) {
      const sooner = dues[index - 1]
      if (!sooner || sooner.at > due.at) break
      dues[index] = sooner
    }
    dues[index] = due
  }

  /** Lets time pass until an instant; stops early when there is nothing left, or `isOver` says so. */
  runUntil(endAt: number, isOver: () => boolean = () => false): void {
    for (let next = this.#dues.at(-1); next && next.at <= endAt; next = this.#dues.at(-1)) {
      if (isOver()) return
      this.#dues.pop()
      this.#now = next.at
      next.run()
    }
    this.#now = Math.max(this.#now, endAt)
  }
}
