import Bottleneck from 'bottleneck'
import type { Timers } from '../../lib/timers.ts'

/** Tokens that pay for calls. Some are in stock and can be taken at once; the pool counts the others. */
export interface TokenPool {
  /** How many can be taken now. */
  readonly stock: number
  /** A token is to be given back so many ms before its call leaves the exchange's window. */
  readonly leadMs: number
  /** Takes one. @throws when there is none in stock. */
  take(): void
  /** Gives back the token of a call that leaves the exchange's window after {@link leadMs}. */
  giveBack(): void
  /** Returns a token whose call was not made: it is in stock again at once. */
  putBack(): void
  stop(): Promise<void>
}

export interface TokenPoolOptions {
  /** How many tokens there are: the calls of one window. */
  readonly tokens: number
  /** So many are kept in stock ahead of need. */
  readonly stockMin: number
  /** Called when the stock grows at another time than during {@link TokenPool.giveBack} or {@link TokenPool.putBack}. */
  readonly onStock: () => void
  readonly timers: Timers
}

/** Bottleneck takes some 4 ms to hand a token out again, and longer where the machine is busy. */
const LEAD_MS = 25

/**
 * The pool over Bottleneck, which counts the tokens (its reservoir, never refreshed by itself).
 *
 * A job takes Bottleneck three turns of a timer, about 3.6 ms. So a job is not a call: it fetches one token into stock,
 * ahead of need, and which call gets the token is decided when it is taken. Even scheduling a job takes a tenth of a
 * millisecond, so that is done after the call that took a token has been written.
 */
export class BottleneckPool implements TokenPool {
  readonly leadMs = LEAD_MS
  readonly #limiter: Bottleneck
  readonly #options: TokenPoolOptions
  #stock: number
  #fetching = 0
  #cancelFetch: (() => void) | undefined
  #isStopped = false

  constructor(options: TokenPoolOptions) {
    this.#options = options
    // The first stock is not fetched: an account has a hundred pools, and most are never used.
    this.#stock = Math.min(options.stockMin, options.tokens)
    this.#limiter = new Bottleneck({ reservoir: options.tokens - this.#stock })
  }

  get stock(): number {
    return this.#stock
  }

  take(): void {
    if (this.#stock < 1) throw new Error('there is no token in stock')
    this.#stock--
    this.#cancelFetch ??= this.#options.timers.after(0, () => {
      this.#cancelFetch = undefined
      this.#fetch()
    })
  }

  giveBack(): void {
    if (this.#isStopped) return
    forgetWallClock(this.#limiter)
    void this.#limiter.incrementReservoir(1)
  }

  putBack(): void {
    this.#stock++
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelFetch?.()
    this.#stock = 0
    await this.#limiter.stop({ dropWaitingJobs: true })
    await this.#limiter.disconnect()
  }

  /** Every wanted token is either in stock or has a job that fetches it. */
  #fetch(): void {
    while (!this.#isStopped && this.#stock + this.#fetching < this.#options.stockMin) {
      this.#fetching++
      forgetWallClock(this.#limiter)
      // It fails only when the pool is stopped, and then the token is not needed.
      this.#limiter.schedule(() => this.#arrive()).catch(() => undefined)
    }
  }

  #arrive(): Promise<void> {
    if (!this.#isStopped) {
      this.#fetching--
      this.#stock++
      this.#options.onStock()
    }
    return Promise.resolve()
  }
}

/**
 * Bottleneck spaces jobs by the machine's clock even where no space is configured: if the clock is set back by minutes,
 * every job is held for as long. There is no public way to prevent that. Source: bottleneck 2.19.5,
 * `LocalDatastore.__register__`; the version is pinned, and a test sets the clock.
 */
function forgetWallClock(limiter: Bottleneck): void {
  Object.assign((limiter as unknown as { readonly _store: object })._store, { _nextRequest: 0 })
}
