import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type TokenPool, type TokenPoolOptions } from './token-pool.ts'

export interface CallWindowOptions {
  /** Calls a window that we allow ourselves. */
  readonly calls: number
  /** How many of them may be made now, where others share them. */
  readonly shareOf?: (() => number) | undefined
  /** Tokens kept ahead of need. */
  readonly stockMin: number
  readonly clock: Clock
  readonly timers: Timers
  readonly createPool: (options: TokenPoolOptions) => TokenPool
  /** A call more may be possible. */
  readonly onFree: () => void
}

/**
 * One limit: so many calls, each counted from its grant until it cannot matter to the next any more.
 *
 * Counted twice. The pool (Bottleneck) says how many tokens there are, in turns of its own timers; the exact
 * moment at which a call leaves the exchange's window is kept here. A call needs both, so neither is late for
 * the other, and neither alone can let a call too many out.
 */
export class CallWindow {
  readonly #options: CallWindowOptions
  readonly #pool: TokenPool
  readonly #timers = new Set<() => void>()
  /** When the calls that were made leave, monotonic ms, the first first. */
  readonly #leaving: number[] = []
  #inside = 0
  /** Somebody waits for the next call to leave, and the timer that tells of it is set for then, monotonic ms. */
  #isAwaited = false
  #wakesAt = Number.POSITIVE_INFINITY
  #isStopped = false

  constructor(options: CallWindowOptions) {
    const { calls, stockMin, createPool, onFree, timers } = options
    this.#options = options
    this.#pool = createPool({ tokens: calls, stockMin, onStock: onFree, timers })
  }

  /** Calls that may be made in a window, as things are now. */
  get allowed(): number {
    const { calls, shareOf } = this.#options
    return shareOf === undefined ? calls : Math.min(calls, shareOf())
  }

  /** Calls that could be made now, were each of them granted. */
  get free(): number {
    this.#letLeave()
    return this.allowed - this.#inside
  }

  /** Calls that count still, or are on their way. */
  get inside(): number {
    this.#letLeave()
    return this.#inside
  }

  /** When the next of them leaves, monotonic ms; infinite while all that are left are on their way. */
  get nextLeavesAt(): number {
    this.#letLeave()
    return this.#leaving[0] ?? Number.POSITIVE_INFINITY
  }

  /** Calls that can be granted now: free, and their token is here. */
  get ready(): number {
    return Math.min(this.free, this.#pool.stock)
  }

  /** Takes one. @throws when none is ready. */
  take(): void {
    this.#pool.take()
    this.#inside++
  }

  /** The call was not made. */
  putBack(): void {
    this.#pool.putBack()
    this.#inside--
  }

  /** The call was made, and matters until `at`, monotonic ms. */
  leaveAt(at: number): void {
    if (this.#isStopped) return
    const leaving = this.#leaving
    let place = leaving.length
    while (place > 0 && (leaving[place - 1] ?? at) > at) place--
    if (place === leaving.length) leaving.push(at)
    else leaving.splice(place, 0, at)
    const { leadMs } = this.#pool
    if (leadMs > 0) this.#when(at - leadMs, () => this.#pool.giveBack())
    this.#wake()
  }

  /** Somebody waits: `onFree` is called once, when the next call leaves. Where nobody does, no timer is set. */
  awaitFree(): void {
    // One that has left already is no reason to wake: nothing would have changed.
    this.#letLeave()
    this.#isAwaited = true
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers) cancel()
    await this.#pool.stop()
  }

  #wake(): void {
    const [at = Number.POSITIVE_INFINITY] = this.#leaving
    if (!this.#isAwaited || at >= this.#wakesAt) return
    this.#wakesAt = at
    this.#when(at, () => {
      // A call that leaves sooner has come between.
      if (at !== this.#wakesAt) return
      this.#isAwaited = false
      this.#wakesAt = Number.POSITIVE_INFINITY
      this.#options.onFree()
    })
  }

  #letLeave(): void {
    const leaving = this.#leaving
    if (leaving.length === 0) return
    const now = this.#options.clock.monotonic()
    while ((leaving[0] ?? Number.POSITIVE_INFINITY) <= now) {
      leaving.shift()
      this.#inside--
      if (this.#pool.leadMs === 0) this.#pool.giveBack()
    }
  }

  /** A timer may fire early by as long as the turn took in which it was set: then it is set again. */
  #when(at: number, run: () => void): void {
    if (this.#isStopped) return
    const { clock, timers } = this.#options
    const cancel = timers.after(Math.ceil(at - clock.monotonic()), () => {
      this.#timers.delete(cancel)
      if (clock.monotonic() < at) this.#when(at, run)
      else run()
    })
    this.#timers.add(cancel)
  }
}
