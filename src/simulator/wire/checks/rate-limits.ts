import type { RateLimit } from '../../../protocol/endpoint.ts'
import { oneOf } from '../../shared/one-of.ts'

export type RateLimitSettings = Readonly<typeof defaultRateLimitSettings> & {
  /** Each limit allows so many times its calls. Default 1. */
  readonly times?: number
}

export const defaultRateLimitSettings = {
  counting: oneOf<CountingMethod>('sliding'),
  /**
   * True is the stricter way; neither is proved. A caller above a `sliding` or `bucket` limit is
   * then not served until it pauses.
   */
  refusedCallsCount: true,
  /**
   * The limit over all endpoints of an address; 0 disables it, because the document has none.
   * Source: the vendor's FAQ, "once triggered recovery takes 5 minutes".
   */
  overall: { calls: 0, perMs: 60_000, recoveryMs: 300_000 },
}

interface CountedCall {
  readonly endpoint: string
  readonly limit: RateLimit
  readonly who: string
  readonly isCopyTrader: boolean
}

const CALLERS_MAX = 10_000

export class RateLimits {
  readonly #settings: RateLimitSettings
  readonly #counters = new Map<string, CallCounter>()
  readonly #overall = new Map<string, OverallWindow>()

  constructor(settings: RateLimitSettings) {
    this.#settings = settings
  }

  take({ endpoint, limit, who, isCopyTrader }: CountedCall, now: number): CallAdmission {
    const { counting, refusedCallsCount, times = 1 } = this.#settings
    const calls = times * (isCopyTrader ? (limit.copyTraderCalls ?? limit.calls) : limit.calls)
    const counter = recall(this.#counters, `${endpoint} ${who}`, () =>
      callCounters[counting]({ calls, perMs: limit.perMs, refusedCallsCount }),
    )
    return counter(now)
  }

  takeOverall(address: string, now: number): boolean {
    const { times = 1, overall } = this.#settings
    const { perMs, recoveryMs } = overall
    const calls = times * overall.calls
    if (calls === 0) return true
    const window = recall(this.#overall, address, () => ({ takenAt: [], refusedUntil: now }))
    if (now < window.refusedUntil) return false
    const { takenAt } = window
    while ((takenAt[0] ?? now) <= now - perMs) takenAt.shift()
    takenAt.push(now)
    if (takenAt.length <= calls) return true
    window.refusedUntil = now + recoveryMs
    takenAt.length = 0
    return false
  }
}

interface OverallWindow {
  readonly takenAt: number[]
  refusedUntil: number
}

function recall<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const value = map.get(key) ?? create()
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size > CALLERS_MAX) map.delete(oldest)
  return value
}

/**
 * The document does not say how N calls a second are counted.
 *
 * - `sliding`: at most N in any window, the strictest
 * - `fixed`: at most N in each second of the clock, so up to 2N around its turn
 * - `bucket`: N tokens, refilled evenly
 */
export const callCounters = { sliding: slidingCounter, fixed: fixedCounter, bucket: bucketCounter }

export type CountingMethod = keyof typeof callCounters

interface CallAdmission {
  readonly granted: boolean
  readonly remaining: number
}

type CallCounter = (now: number) => CallAdmission

interface CountedLimit {
  readonly calls: number
  readonly perMs: number
  readonly refusedCallsCount: boolean
}

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

const TOKEN_NOISE = 1e-6

/**
 * A refusal that counts takes the refilled part of a token, so that continuous calls above the rate
 * starve, as with `sliding`.
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
