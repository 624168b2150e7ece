import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type TokenPool, type TokenPoolOptions } from './token-pool.ts'

export interface CallWindowOptions {
  /** Calls a window that we allow ourselves. */
  readonly calls: number
  /** Tokens kept ahead of need. */
  readonly stockMin: number
  readonly clock: Clock
  readonly timers: Timers
  readonly createPool: (options: TokenPoolOptions) => TokenPool
  /** A call more may be possible. */
  readonly onFree: () => void
}

/**
 * A token goes back to its pool this much before its moment: Bottleneck takes some 4 ms to hand it out again,
 * and longer where the machine is busy.
 */
const POOL_LEAD_MS = 25

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
  #inside = 0
  #isStopped = false

  constructor(options: CallWindowOptions) {
    const { calls, stockMin, createPool, onFree } = options
    this.#options = options
    this.#pool = createPool({ tokens: calls, stockMin, onStock: onFree })
  }

  /** Calls that could be made now, were each of them granted. */
  get free(): number {
    return this.#options.calls - this.#inside
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
    this.#when(at - POOL_LEAD_MS, () => this.#pool.giveBack())
    this.#when(at, () => {
      this.#inside--
      this.#options.onFree()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers) cancel()
    await this.#pool.stop()
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
