import Bottleneck from 'bottleneck'
import { type Timers } from '../../lib/timers.ts'

/** Tokens that calls are paid with. Some are in stock, to be taken at once; the rest is counted elsewhere. */
export interface TokenPool {
  /** How many may be taken now. */
  readonly stock: number
  /** A token is given back so many ms before its call leaves the exchange's window. */
  readonly leadMs: number
  /** Takes one. @throws when there is none in stock. */
  take(): void
  /** One whose call leaves the exchange's window after {@link leadMs}. */
  giveBack(): void
  /** A token that paid for nothing: in stock again at once. */
  putBack(): void
  stop(): Promise<void>
}

export interface TokenPoolOptions {
  /** All there are: the calls of one window. */
  readonly tokens: number
  /** Brought into stock ahead of need. */
  readonly stockMin: number
  /** Called when the stock has grown later than by {@link TokenPool.giveBack} and {@link TokenPool.putBack}. */
  readonly onStock: () => void
  readonly timers: Timers
}

/** Bottleneck takes some 4 ms to hand a token out again, and longer where the machine is busy. */
const LEAD_MS = 25

/**
 * The pool over Bottleneck, which counts the tokens (its reservoir, never refreshed by itself).
 *
 * A job costs Bottleneck three turns of a timer, about 3.6 ms. So its jobs are not calls: a job fetches one
 * token into stock, ahead of need, and who gets the token is decided at the moment it is taken. Even to ask for one
 * takes a tenth of a millisecond, so that is done when the call that took the last is on its way.
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
    // What is in stock from the beginning need not be fetched: an account has a hundred pools, most never asked.
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
      // The only way to fail is to be stopped, and then nobody wants the token any more.
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
 * Bottleneck spaces jobs by the machine's clock even where they need no space: set back by minutes, it would
 * hold every job for as long. There is no public way to say that no job is due later than now. Source:
 * bottleneck 2.19.5, `LocalDatastore.__register__`; the version is pinned, and a test steps the clock.
 */
function forgetWallClock(limiter: Bottleneck): void {
  Object.assign((limiter as unknown as { readonly _store: object })._store, { _nextRequest: 0 })
}
