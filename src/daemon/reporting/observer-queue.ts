import type { Timers } from '../../lib/timers.ts'

/** After so many they are told within the turn. */
const WAITING_MAX = 10_000

/**
 * Logs, statistics and views of an account learn what happened in its order, after the turn in which
 * it happened: an order leaves in that turn and waits for none of them.
 */
export class ObserverQueue {
  readonly #timers: Timers
  readonly #onError: (error: unknown) => void
  #waiting: (() => void)[] = []

  constructor(timers: Timers, onError: (error: unknown) => void) {
    this.#timers = timers
    this.#onError = onError
  }

  later(observe: () => void): void {
    if (this.#waiting.length === 0) this.#timers.after(0, () => this.flush())
    if (this.#waiting.push(observe) >= WAITING_MAX) this.flush()
  }

  /** Must be called before anything is read from an observer, and at the end of a run. */
  flush(): void {
    const due = this.#waiting
    if (due.length === 0) return
    this.#waiting = []
    for (const observe of due) {
      try {
        observe()
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
