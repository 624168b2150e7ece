import { ClockOffset } from '../../src/exchange/clock-offset.ts'
import { Limiter, type LimiterOptions } from '../../src/exchange/limiter.ts'
import { type TokenPool, type TokenPoolOptions } from '../../src/exchange/token-pool.ts'
import { type Clock } from '../../src/lib/clock.ts'
import { type Timers } from '../../src/lib/timers.ts'

/** Time moved by hand: a clock and timers that fire in order, each at its own moment. */
export class HandTime implements Clock, Timers {
  readonly epochMs: number
  #elapsedMs = 0
  #pending: Array<{ readonly at: number; readonly callback: () => void }> = []

  constructor(epochMs = 1_700_000_000_000) {
    this.epochMs = epochMs
  }

  now(): number {
    return Math.floor(this.epochMs + this.#elapsedMs)
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#elapsedMs + Math.max(0, delayMs), callback }
    this.#pending.push(timer)
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer)
    }
  }

  get pending(): number {
    return this.#pending.length
  }

  advance(ms: number): void {
    const end = this.#elapsedMs + ms
    for (;;) {
      const due = this.#pending.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
      if (due === undefined) break
      this.#pending = this.#pending.filter((timer) => timer !== due)
      this.#elapsedMs = Math.max(this.#elapsedMs, due.at)
      due.callback()
    }
    this.#elapsedMs = end
  }
}

/** A pool without the asynchronous machinery: a token that comes back is in stock at once. */
class DirectPool implements TokenPool {
  readonly #onStock: () => void
  #stock: number

  constructor({ tokens, onStock }: TokenPoolOptions) {
    this.#stock = tokens
    this.#onStock = onStock
  }

  get stock(): number {
    return this.#stock
  }

  take(): void {
    if (this.#stock < 1) throw new Error('there is no token in stock')
    this.#stock--
  }

  giveBack(tokens: number): void {
    this.#stock += tokens
    this.#onStock()
  }

  putBack(): void {
    this.#stock++
  }

  want(): void {}

  stop(): Promise<void> {
    return Promise.resolve()
  }
}

export function createHandLimiter(options: Partial<LimiterOptions> = {}): {
  time: HandTime
  offset: ClockOffset
  limiter: Limiter
} {
  const time = new HandTime()
  const offset = new ClockOffset()
  const createPool = (pool: TokenPoolOptions) => new DirectPool(pool)
  const limiter = new Limiter({ clock: time, timers: time, offset, createPool, ...options })
  return { time, offset, limiter }
}

/** Counts calls as an exchange may: the three readings of "R calls a second". Instants in ms. */
export class ExactCounters {
  readonly #calls: number
  readonly #perMs: number
  readonly #times: number[] = []
  #windowCounts = new Map<number, number>()
  #tokens: number
  #filledAt = 0
  readonly rejected = { sliding: 0, fixed: 0, bucket: 0 }

  constructor(calls: number, perMs: number) {
    this.#calls = calls
    this.#perMs = perMs
    this.#tokens = calls
  }

  /** Calls must be counted in the order of their times. */
  count(at: number): void {
    const recent = this.#times.filter((time) => time > at - this.#perMs).length
    if (recent >= this.#calls) this.rejected.sliding++
    this.#times.push(at)
    while ((this.#times[0] ?? at) < at - this.#perMs) this.#times.shift()

    const window = Math.floor(at / this.#perMs)
    const inWindow = (this.#windowCounts.get(window) ?? 0) + 1
    this.#windowCounts = new Map([[window, inWindow]])
    if (inWindow > this.#calls) this.rejected.fixed++

    this.#tokens += ((at - this.#filledAt) * this.#calls) / this.#perMs
    this.#tokens = Math.min(this.#calls, this.#tokens)
    this.#filledAt = at
    if (this.#tokens < 1 - 1e-9) this.rejected.bucket++
    else this.#tokens--
  }
}
