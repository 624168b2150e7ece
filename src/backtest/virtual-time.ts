import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'

/** What is done at an instant. */
export type Due = (() => void) | { run(): void }

/**
 * Virtual time: things are due at instants of the exchange's clock (Unix ms), and happen one after the
 * other, at one instant in the order in which they were scheduled.
 */
export class VirtualTime {
  /**
   * What is due, and when of each (Unix ms): what happens next is last. They are short lists: a few calls and timers of
   * one account. Two lists, because an object for each thing that is due would be made a million times a run.
   */
  readonly #dues: Due[] = []
  readonly #instants: number[] = []
  #now: number
  /** A machine whose clock is the exchange's. */
  readonly clock: Clock
  readonly #settle: (() => void) | undefined

  /**
   * @param startAt Unix ms.
   * @param settle Called after each thing that was due: where promises are at work, it lets them come to their end.
   */
  constructor(startAt: number, settle?: () => void) {
    this.#settle = settle
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

  after(delayMs: number, due: Due): void {
    const dues = this.#dues
    const instants = this.#instants
    const at = this.#now + Math.max(0, Math.round(delayMs))
    let place = dues.length
    for (; place > 0; place--) {
      const sooner = dues[place - 1]
      const soonerAt = instants[place - 1]
      if (sooner === undefined || soonerAt === undefined || soonerAt > at) break
      dues[place] = sooner
      instants[place] = soonerAt
    }
    dues[place] = due
    instants[place] = at
  }

  /** Lets time pass until an instant; stops early when there is nothing left, or `isOver` says so. */
  runUntil(endAt: number, isOver: () => boolean = () => false): void {
    const instants = this.#instants
    for (
      let nextAt = instants.at(-1);
      nextAt !== undefined && nextAt <= endAt;
      nextAt = instants.at(-1)
    ) {
      if (isOver()) return
      this.#now = nextAt
      this.#runNext()
    }
    this.#now = Math.max(this.#now, endAt)
  }

  #runNext(): void {
    const due = this.#dues.pop()
    this.#instants.pop()
    if (typeof due === 'function') due()
    else due?.run()
    this.#settle?.()
  }
}
