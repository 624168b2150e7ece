/**
 * How a limit of N calls a second is counted. The document does not say.
 *
 * - `sliding`: at most N in any window, wherever it begins. The strictest reading.
 * - `fixed`: at most N in each second of the exchange's clock, so up to 2N around its turn.
 * - `bucket`: N tokens, refilled evenly; a burst of N and then N a second.
 */
export const callCounters = { sliding: slidingCounter, fixed: fixedCounter, bucket: bucketCounter }

export type Counting = keyof typeof callCounters

/** What became of one call. `remaining` is how many more would be granted at this instant. */
export interface Admission {
  readonly granted: boolean
  readonly remaining: number
}

/** Takes a call against one limit of one caller. @param now Unix ms, and must not run backwards. */
export type CallCounter = (now: number) => Admission

interface CountedLimit {
  readonly calls: number
  readonly perMs: number
  /** Whether a call that is refused is counted all the same. */
  readonly refusedCallsCount: boolean
}

/**
 * Remembers the last N counted calls and no more: a call is refused while the N-th last is less than a
 * window old, so older ones can never matter. A call leaves the window exactly `perMs` after it was made.
 */
function slidingCounter({ calls, perMs, refusedCallsCount }: CountedLimit): CallCounter {
  const times = new Float64Array(calls).fill(Number.NEGATIVE_INFINITY)
  let oldest = 0
  return (now) => {
    const granted = (times[oldest] ?? 0) <= now - perMs
    if (granted || refusedCallsCount) {
      times[oldest] = now
      oldest = (oldest + 1) % calls
    }
    if (!granted) return { granted, remaining: 0 }
    return { granted, remaining: calls - times.filter((at) => at > now - perMs).length }
  }
}

/** Counts from zero again with each window of the clock; whether refused calls count makes no difference. */
function fixedCounter({ calls, perMs }: CountedLimit): CallCounter {
  let window = Number.NEGATIVE_INFINITY
  let count = 0
  return (now) => {
    const current = Math.floor(now / perMs)
    if (current !== window) count = 0
    window = current
    if (count >= calls) return { granted: false, remaining: 0 }
    count++
    return { granted: true, remaining: calls - count }
  }
}

/** Far below what a millisecond refills at any documented rate, far above the error of a float sum. */
const TOKEN_NOISE = 1e-6

/**
 * Tokens as a real number, refilled when asked. A refused call that counts takes the part of a token that
 * had come back, so that hammering above the rate starves here as it does under sliding counting.
 */
function bucketCounter({ calls, perMs, refusedCallsCount }: CountedLimit): CallCounter {
  let tokens = calls
  let filledAt = Number.NEGATIVE_INFINITY
  return (now) => {
    tokens = Math.min(calls, tokens + ((now - filledAt) * calls) / perMs)
    filledAt = now
    // The noise of adding thirds and sevenths must not cost a call that is due on the millisecond.
    const granted = tokens >= 1 - TOKEN_NOISE
    if (granted) tokens = Math.max(0, tokens - 1)
    else if (refusedCallsCount) tokens = 0
    return { granted, remaining: Math.floor(tokens + TOKEN_NOISE) }
  }
}
