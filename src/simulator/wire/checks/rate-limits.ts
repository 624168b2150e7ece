import type { RateLimit } from '../../../protocol/endpoint.ts'
import { oneOf } from '../../shared/one-of.ts'
import {
  type CallAdmission,
  type CallCounter,
  callCounters,
  type CountingMethod,
} from './call-counter.ts'

export type RateLimitSettings = Readonly<typeof defaultRateLimitSettings>

export const defaultRateLimitSettings = {
  counting: oneOf<CountingMethod>('sliding'),
  /**
   * Not proved, so the stricter: above a `sliding` or `bucket` limit, a caller is not served until
   * it pauses.
   */
  refusedCallsCount: true,
  /**
   * All endpoints of one address, in any window of `perMs`. An excess refuses every call for
   * `recoveryMs`, not prolonged meanwhile. Absent from the document, so 0 disables it. A vendor's
   * FAQ: 6000 a minute; "once triggered recovery takes 5 minutes".
   */
  overall: { calls: 0, perMs: 60_000, recoveryMs: 300_000 },
}

/** `who` is a UID or an address, by the limit's scope. */
export interface CountedCall {
  readonly endpoint: string
  readonly limit: RateLimit
  readonly who: string
  readonly isCopyTrader: boolean
}

/** The caller unseen for longest is dropped first. */
const CALLERS_MAX = 10_000

export class RateLimits {
  readonly #settings: RateLimitSettings
  readonly #counters = new Map<string, CallCounter>()
  readonly #overall = new Map<string, OverallWindow>()

  constructor(settings: RateLimitSettings) {
    this.#settings = settings
  }

  take({ endpoint, limit, who, isCopyTrader }: CountedCall, now: number): CallAdmission {
    const { counting, refusedCallsCount } = this.#settings
    const calls = isCopyTrader ? (limit.copyTraderCalls ?? limit.calls) : limit.calls
    const counter = recall(this.#counters, `${endpoint} ${who}`, () =>
      callCounters[counting]({ calls, perMs: limit.perMs, refusedCallsCount }),
    )
    return counter(now)
  }

  takeOverall(address: string, now: number): boolean {
    const { calls, perMs, recoveryMs } = this.#settings.overall
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
