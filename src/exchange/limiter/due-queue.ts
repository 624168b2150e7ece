import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'

export interface DueQueueOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Called with how many have come due since the last time. */
  readonly onDue: (count: number) => void
}

/**
 * Moments to come, earliest first, and one timer for the first of them. Bounded by whoever adds: a limit's
 * queue never holds more than the limit has calls. On the monotonic clock: a step of the wall clock moves
 * nothing.
 */
export class DueQueue {
  readonly #options: DueQueueOptions
  /** Monotonic ms, ascending. */
  readonly #dueAt: number[] = []
  #cancelTimer: (() => void) | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #isStopped = false

  constructor(options: DueQueueOptions) {
    this.#options = options
  }

  /** @param dueAt Monotonic ms; what is past is due at the timer's next turn. */
  add(dueAt: number): void {
    if (this.#isStopped) return
    let index = this.#dueAt.length
    while (index > 0 && (this.#dueAt[index - 1] ?? 0) > dueAt) index--
    this.#dueAt.splice(index, 0, dueAt)
    this.#arm()
  }

  /** For good: what is added afterwards never comes due. */
  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#dueAt.length = 0
  }

  #arm(): void {
    const first = this.#dueAt[0]
    if (first === undefined || (this.#cancelTimer !== undefined && this.#timerAt <= first)) return
    this.#cancelTimer?.()
    this.#timerAt = first
    // A timer counts whole milliseconds and may fire a fraction early.
    const delayMs = Math.ceil(first - this.#options.clock.monotonic())
    this.#cancelTimer = this.#options.timers.after(Math.max(0, delayMs), () => this.#fire())
  }

  #fire(): void {
    this.#cancelTimer = undefined
    const now = this.#options.clock.monotonic()
    let count = 0
    while (count < this.#dueAt.length && (this.#dueAt[count] ?? 0) <= now) count++
    this.#dueAt.splice(0, count)
    this.#arm()
    if (count > 0) this.#options.onDue(count)
  }
}
