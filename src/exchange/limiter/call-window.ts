import Bottleneck from 'bottleneck'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'

export interface CallWindowOptions {
  readonly calls: number
  /** Limits the calls further where other daemons share the limit. */
  readonly shareOf?: (() => number) | undefined
  readonly stockMin: number
  readonly clock: Clock
  readonly timers: Timers
  readonly createPool: (options: TokenPoolOptions) => TokenPool
  readonly onFree: () => void
}

/**
 * A call needs room here, where calls are counted exactly, and a token of Bottleneck, so an error
 * in one of the two lets no call too many out. A call counts from its grant until it has left the
 * exchange's window.
 */
export class CallWindow {
  readonly #options: CallWindowOptions
  readonly #pool: TokenPool
  readonly #timers = new Set<() => void>()
  readonly #leaving: number[] = []
  #inside = 0
  #isAwaited = false
  #wakesAt = Number.POSITIVE_INFINITY
  #isStopped = false

  constructor(options: CallWindowOptions) {
    const { calls, stockMin, createPool, onFree, timers } = options
    this.#options = options
    this.#pool = createPool({ tokens: calls, stockMin, onStock: onFree, timers })
  }

  get allowed(): number {
    const { calls, shareOf } = this.#options
    return shareOf === undefined ? calls : Math.min(calls, shareOf())
  }

  get free(): number {
    this.#letLeave()
    return this.allowed - this.#inside
  }

  get inside(): number {
    this.#letLeave()
    return this.#inside
  }

  /** Monotonic ms; infinite if all calls that count are in flight. */
  get nextLeavesAt(): number {
    this.#letLeave()
    return this.#leaving[0] ?? Number.POSITIVE_INFINITY
  }

  /** Free calls for which the pool has a token too. */
  get ready(): number {
    return Math.min(this.free, this.#pool.stock)
  }

  take(): void {
    this.#pool.take()
    this.#inside++
  }

  putBack(): void {
    this.#pool.putBack()
    this.#inside--
  }

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

  /** `onFree` is called once, at the next call that leaves. No timer is set without this. */
  awaitFree(): void {
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

  /** A timer can fire early by the length of the turn that set it. */
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

export interface TokenPool {
  readonly stock: number
  /** A token is given back so long before its call leaves the window. */
  readonly leadMs: number
  take(): void
  giveBack(): void
  putBack(): void
  stop(): Promise<void>
}

export interface TokenPoolOptions {
  readonly tokens: number
  readonly stockMin: number
  readonly onStock: () => void
  readonly timers: Timers
}

/** Bottleneck takes some 4 ms to hand a token out again, longer on a busy machine. */
const LEAD_MS = 25

/**
 * Bottleneck's reservoir counts the tokens, and is never refreshed by itself.
 *
 * A job takes three turns of the event loop, so one job fetches all tokens that the stock lacks.
 * With one job for each token, a busy machine gets too few of them (docs/limits.md).
 */
export class BottleneckPool implements TokenPool {
  readonly leadMs = LEAD_MS
  readonly #limiter: Bottleneck
  readonly #options: TokenPoolOptions
  #stock: number
  /** Tokens in the reservoir that no job fetches; -1 while a job waits for the next. */
  #left: number
  #isFetching = false
  #cancelFetch: (() => void) | undefined
  #isStopped = false

  constructor(options: TokenPoolOptions) {
    this.#options = options
    // Most of an account's hundred pools are never used.
    this.#stock = Math.min(options.stockMin, options.tokens)
    this.#left = options.tokens - this.#stock
    this.#limiter = new Bottleneck({ reservoir: this.#left })
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
    this.#left++
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

  #fetch(): void {
    const lacking = this.#options.stockMin - this.#stock
    if (this.#isStopped || this.#isFetching || lacking < 1) return
    const weight = Math.min(lacking, Math.max(1, this.#left))
    this.#isFetching = true
    this.#left -= weight
    forgetWallClock(this.#limiter)
    this.#limiter.schedule({ weight }, () => this.#arrive(weight)).catch(() => undefined)
  }

  #arrive(tokens: number): Promise<void> {
    if (!this.#isStopped) {
      this.#isFetching = false
      this.#stock += tokens
      this.#fetch()
      this.#options.onStock()
    }
    return Promise.resolve()
  }
}

/**
 * Bottleneck spaces jobs by the machine's clock: if it is set back by minutes, every job waits as
 * long, and no public option prevents that. Source: bottleneck 2.19.5,
 * `LocalDatastore.__register__`; the version is pinned, and a test sets the clock.
 */
function forgetWallClock(limiter: Bottleneck): void {
  Object.assign((limiter as unknown as { readonly _store: object })._store, { _nextRequest: 0 })
}
