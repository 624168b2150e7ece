import { Limiter, type LimiterOptions } from '../../src/exchange/limiter/limiter.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Timers } from '../../src/lib/timers.ts'
import { DirectPool } from '../../src/backtest/backtest.ts'

interface Pending {
  readonly at: number
  readonly callback: () => void
}

/** Time moved by hand: a clock and timers that fire in order, each at its own moment. */
export class HandTime implements Clock, Timers {
  readonly epochMs: number
  #elapsedMs = 0
  /** Latest first. */
  readonly #pending: Pending[] = []

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
    let index = this.#pending.length
    while (index > 0 && (this.#pending[index - 1]?.at ?? 0) <= timer.at) index--
    this.#pending.splice(index, 0, timer)
    return () => {
      const place = this.#pending.indexOf(timer)
      if (place >= 0) this.#pending.splice(place, 1)
    }
  }

  get pending(): number {
    return this.#pending.length
  }

  advance(ms: number): void {
    const end = this.#elapsedMs + ms
    for (let next = this.#pending.at(-1); next && next.at <= end; next = this.#pending.at(-1)) {
      this.#pending.pop()
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at)
      next.callback()
    }
    this.#elapsedMs = end
  }
}

export function createHandLimiter(options: Partial<LimiterOptions> = {}): {
  time: HandTime
  limiter: Limiter
} {
  const time = new HandTime()
  const limiter = new Limiter({
    clock: time,
    timers: time,
    createPool: (pool) => new DirectPool(pool),
    ...options,
  })
  return { time, limiter }
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
