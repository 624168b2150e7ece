import { unreachable } from '../../../lib/unreachable.ts'

/**
 * How a limit of N calls a second is counted. The document does not say.
 *
 * - `sliding`: at most N in any window, wherever it begins. The strictest reading.
 * - `fixed`: at most N in each second of the exchange's clock, so up to 2N around its turn.
 * - `bucket`: N tokens, refilled evenly; a burst of N and then N a second.
 */
export type Counting = 'sliding' | 'fixed' | 'bucket'

/** What became of one call. `remaining` is how many more would be granted at this instant. */
export interface Admission {
  readonly granted: boolean
  readonly remaining: number
}

/** One limit for one caller. Instants are Unix ms and must not run backwards. */
export interface CallCounter {
  take(now: number): Admission
}

export interface CallCounterOptions {
  readonly counting: Counting
  readonly calls: number
  readonly perMs: number
  /** Whether a call that is refused is counted all the same. */
  readonly refusedCallsCount: boolean
}

export function createCallCounter(options: CallCounterOptions): CallCounter {
  switch (options.counting) {
    case 'sliding':
      return new SlidingCounter(options)
    case 'fixed':
      return new FixedCounter(options)
    case 'bucket':
      return new BucketCounter(options)
    default:
      return unreachable(options.counting)
  }
}

/**
 * Remembers the last N counted calls and no more: a call is refused while the N-th last is less than a
 * window old, so older ones can never matter. A call leaves the window exactly `perMs` after it was made.
 */
class SlidingCounter implements CallCounter {
  readonly #options: CallCounterOptions
  readonly #calledAt: Float64Array
  #oldest = 0

  constructor(options: CallCounterOptions) {
    this.#options = options
    this.#calledAt = new Float64Array(options.calls).fill(Number.NEGATIVE_INFINITY)
  }

  take(now: number): Admission {
    const { calls, perMs, refusedCallsCount } = this.#options
    const granted = (this.#calledAt[this.#oldest] ?? 0) <= now - perMs
    if (granted || refusedCallsCount) {
      this.#calledAt[this.#oldest] = now
      this.#oldest = (this.#oldest + 1) % calls
    }
    if (!granted) return { granted, remaining: 0 }
    let inWindow = 0
    for (const calledAt of this.#calledAt) if (calledAt > now - perMs) inWindow++
    return { granted, remaining: calls - inWindow }
  }
}

/** Counts from zero again with each window of the clock; whether refused calls count makes no difference. */
class FixedCounter implements CallCounter {
  readonly #options: CallCounterOptions
  #window = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(options: CallCounterOptions) {
    this.#options = options
  }

  take(now: number): Admission {
    const { calls, perMs } = this.#options
    const window = Math.floor(now / perMs)
    if (window !== this.#window) {
      this.#window = window
      this.#count = 0
    }
    if (this.#count >= calls) return { granted: false, remaining: 0 }
    this.#count++
    return { granted: true, remaining: calls - this.#count }
  }
}

/**
 * Tokens as a real number, refilled when asked. A refused call that counts takes the part of a token that
 * had come back, so that hammering above the rate starves here as it does under sliding counting.
 */
class BucketCounter implements CallCounter {
  readonly #options: CallCounterOptions
  #tokens: number
  #filledAt = Number.NEGATIVE_INFINITY

  constructor(options: CallCounterOptions) {
    this.#options = options
    this.#tokens = options.calls
  }

  take(now: number): Admission {
    const { calls, perMs, refusedCallsCount } = this.#options
    this.#tokens = Math.min(calls, this.#tokens + ((now - this.#filledAt) * calls) / perMs)
    this.#filledAt = now
    // The noise of adding thirds and sevenths must not cost a call that is due on the millisecond.
    const granted = this.#tokens >= 1 - TOKEN_NOISE
    if (granted) this.#tokens = Math.max(0, this.#tokens - 1)
    else if (refusedCallsCount) this.#tokens = 0
    return { granted, remaining: Math.floor(this.#tokens + TOKEN_NOISE) }
  }
}

/** Far below what a millisecond refills at any documented rate, far above the error of a float sum. */
const TOKEN_NOISE = 1e-6
