import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'

export type DueTask = (() => void) | { run(): void }

/** Instants are of the exchange's clock. Tasks of one instant run in the order of scheduling. */
export class VirtualTime {
  /** The next task comes last. Two lists of numbers and functions save a million objects a run. */
  readonly #dues: DueTask[] = []
  readonly #instants: number[] = []
  #now: number
  /** The machine's clock, which is exactly the exchange's. */
  readonly clock: Clock
  readonly #settle: (() => void) | undefined

  /**
   * @param startAt Unix ms
   * @param settle called after each task, to let promises settle
   */
  constructor(startAt: number, settle?: () => void) {
    this.#settle = settle
    this.#now = startAt
    this.clock = { now: () => this.#now, monotonic: () => this.#now - startAt }
  }

  /** Exchange clock. */
  get now(): number {
    return this.#now
  }

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

  after(delayMs: number, due: DueTask): void {
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

  /** Ends early when nothing is left, or `isOver` returns true. */
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
