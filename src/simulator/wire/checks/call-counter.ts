/**
 * The document does not say how N calls a second are counted.
 *
 * - `sliding`: at most N in any window, the strictest.
 * - `fixed`: at most N in each second of the clock, so up to 2N around its turn.
 * - `bucket`: N tokens, refilled evenly.
 */
export const callCounters = { sliding: slidingCounter, fixed: fixedCounter, bucket: bucketCounter }

export type CountingMethod = keyof typeof callCounters

export interface CallAdmission {
  readonly granted: boolean
  readonly remaining: number
}

/** @param now must not run backwards */
export type CallCounter = (now: number) => CallAdmission

interface CountedLimit {
  readonly calls: number
  readonly perMs: number
  readonly refusedCallsCount: boolean
}

/** Refuses a call while the N-th last is within the window, so older ones are not kept. */
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

/** Far below a millisecond's refill, and far above the error of a float sum. */
const TOKEN_NOISE = 1e-6

/**
 * A counted refusal takes the refilled part of a token, so continuous calls above the rate starve,
 * as with `sliding`.
 */
function bucketCounter({ calls, perMs, refusedCallsCount }: CountedLimit): CallCounter {
  let tokens = calls
  let filledAt = Number.NEGATIVE_INFINITY
  return (now) => {
    tokens = Math.min(calls, tokens + ((now - filledAt) * calls) / perMs)
    filledAt = now
    // Rounding must not refuse a call that is due on the millisecond.
    const granted = tokens >= 1 - TOKEN_NOISE
    if (granted) tokens = Math.max(0, tokens - 1)
    else if (refusedCallsCount) tokens = 0
    return { granted, remaining: Math.floor(tokens + TOKEN_NOISE) }
  }
}
