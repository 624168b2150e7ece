import Bottleneck from 'bottleneck'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'

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
 * A job takes Bottleneck three turns of a timer, about 3.6 ms. So a job is not a call: it fetches tokens into stock,
 * ahead of need, and which call gets a token is decided when it is taken. Even scheduling a job takes a tenth of a
 * millisecond, so that is done after the call that took a token has been written. One job fetches all that the stock
 * lacks: where turns take long, a job a token hands out fewer tokens than calls are made (measured with turns of 30 ms
 * and 50 calls a second: of 430 reads 13 were granted).
 */
export class BottleneckPool implements TokenPool {
  readonly leadMs = LEAD_MS
  readonly #limiter: Bottleneck
  readonly #options: TokenPoolOptions
  #stock: number
  /** Tokens that the reservoir has and that no job is fetching; -1 while a job waits for the next one. */
  #left: number
  #isFetching = false
  #cancelFetch: (() => void) | undefined
  #isStopped = false

  constructor(options: TokenPoolOptions) {
    this.#options = options
    // The first stock is not fetched: an account has a hundred pools, and most are never used.
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

  /** Fetches what the stock lacks, or the next token that is given back. */
  #fetch(): void {
    const lacking = this.#options.stockMin - this.#stock
    if (this.#isStopped || this.#isFetching || lacking < 1) return
    const weight = Math.min(lacking, Math.max(1, this.#left))
    this.#isFetching = true
    this.#left -= weight
    forgetWallClock(this.#limiter)
    // It fails only when the pool is stopped, and then the tokens are not needed.
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
 * Bottleneck spaces jobs by the machine's clock even where no space is configured: if the clock is set back by minutes,
 * every job is held for as long. There is no public way to prevent that. Source: bottleneck 2.19.5,
 * `LocalDatastore.__register__`; the version is pinned, and a test sets the clock.
 */
function forgetWallClock(limiter: Bottleneck): void {
  Object.assign((limiter as unknown as { readonly _store: object })._store, { _nextRequest: 0 })
}

export interface AnsweredCall {
  /** Unix ms, exchange clock, cut to whole ms: `requestTime` of the answer. */
  readonly requestTime: number
  /** Monotonic ms, our clock. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** How fast two clocks drift apart at most: 500 in a million, the fastest correction that Linux makes to a clock. */
export const DRIFT = 5e-4

/** The exchange states whole milliseconds, so it took a call up to this much later than it says, in ms. */
const ROUNDING_MS = 1

/**
 * The true offset lies somewhere between the two bounds. Once this many answers have narrowed them, we assume that it
 * is this share of their distance above the lower one. A 429 is then possible only where a call travels in less than a
 * third of the shortest time seen. Measured with 5 to 25 ms each way: 98.2 % of 1, 5, 10 and 20 calls a second used
 * (with a share of one half 98.4 %, without 97.8 %), and no 429 on 3000 networks whose delays vary up to twentyfold. A
 * single offset, from the best of 64 answers, becomes wrong as it ages: 98.2 %, and LIM1 broken in 4 of 500 worlds.
 */
const BELIEVED_SHARE = 1 / 3
const ANSWERS_MIN = 8

/**
 * Works out when the exchange took a call, by our monotonic clock. Each answer gives two bounds for how far the
 * exchange's clock is ahead of ours: at least `requestTime - receivedAt`, at most `requestTime - sentAt`. All answers
 * together narrow them.
 */
export class ArrivalBounds {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY
  #learnedAt = 0
  #answers = 0

  /** Takes in an answered call, and returns when the exchange took it, monotonic ms: rather too late than too early. */
  observe({ requestTime, sentAt, receivedAt }: AnsweredCall): number {
    const least = requestTime - receivedAt
    const most = requestTime + ROUNDING_MS - sentAt
    const driftMs = DRIFT * (receivedAt - this.#learnedAt)
    this.#learnedAt = receivedAt
    // After so long a pause this answer alone is more precise than all earlier ones.
    if (driftMs > most - least) this.#answers = 0
    this.#least = Math.max(least, this.#least - driftMs)
    this.#most = Math.min(most, this.#most + driftMs)
    this.#answers++
    if (this.#least > this.#most) {
      // A clock was set, or the time is wrong. All that is known is that the call is over.
      this.#least = least
      this.#most = most
      this.#answers = 1
      return receivedAt
    }
    const believedMs = this.#answers < ANSWERS_MIN ? 0 : BELIEVED_SHARE * (this.#most - this.#least)
    return requestTime + ROUNDING_MS - this.#least - believedMs
  }
}
