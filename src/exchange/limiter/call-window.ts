import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { TokenPool, TokenPoolOptions } from './token-pool.ts'

export interface CallWindowOptions {
  /** Calls that we allow ourselves in a window. */
  readonly calls: number
  /** How many of them may be made now, where other daemons share them. */
  readonly shareOf?: (() => number) | undefined
  /** Tokens that are fetched ahead of need. */
  readonly stockMin: number
  readonly clock: Clock
  readonly timers: Timers
  readonly createPool: (options: TokenPoolOptions) => TokenPool
  /** Called when one more call may be possible. */
  readonly onFree: () => void
}

/**
 * One limit: so many calls in a window. A call counts from its grant until it has left the exchange's window.
 *
 * Calls are counted twice. The pool (Bottleneck) counts tokens, with the precision of its own timers; the exact moment
 * at which a call leaves the exchange's window is kept here. A call needs both a token and room in the window, so an
 * error in either count does not let one call too many out.
 */
export class CallWindow {
  readonly #options: CallWindowOptions
  readonly #pool: TokenPool
  readonly #timers = new Set<() => void>()
  /** When each call that was made leaves the window, monotonic ms, in order. */
  readonly #leaving: number[] = []
  #inside = 0
  /** Whether a request waits for the next call to leave, and for when the timer is set that wakes it, monotonic ms. */
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

  /** Whether the token of one more call is here. */
  get hasToken(): boolean {
    return this.#pool.stock > 0
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

  /** The call was made, and leaves the window at `at`, monotonic ms. */
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

  /** Has `onFree` called once, when the next call leaves the window. Without this no timer is set. */
  awaitFree(): void {
    // Calls that have left already must not wake anybody: they are counted as free now.
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
    const at = this.#leaving[0] ?? Number.POSITIVE_INFINITY
    if (!this.#isAwaited || at >= this.#wakesAt) return
    this.#wakesAt = at
    this.#when(at, () => {
      // Meanwhile the timer was set anew, for a call that leaves sooner.
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

  /** Calls `run` at a monotonic time. A timer can fire too early, by the length of the turn that set it: then it is set again. */
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
