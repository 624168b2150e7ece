import type { RateLimit } from '../../../protocol/endpoint.ts'
import { oneOf } from '../../shared/one-of.ts'
import { type Admission, type CallCounter, callCounters, type Counting } from './call-counter.ts'

export type RateLimitSettings = Readonly<typeof defaultRateLimitSettings>

export const defaultRateLimitSettings = {
  counting: oneOf<Counting>('sliding'),
  /**
   * Whether a refused call is counted too. Nobody has proved it; counting is the stricter reading, and the
   * default. Under `sliding` and `bucket` a caller who keeps hammering above the limit is then never served
   * again until it pauses; with `false` it goes on getting the documented rate.
   */
  refusedCallsCount: true,
  /**
   * Calls of all endpoints together from one address, in any window of `perMs`. Once it trips, everything from
   * that address is refused for `recoveryMs`; calls made meanwhile do not prolong it.
   * The document has no such limit, so there is none at 0. The FAQ of a vendor: 6000 a minute and address; "once triggered
   * recovery takes 5 minutes".
   */
  overall: { calls: 0, perMs: 60_000, recoveryMs: 300_000 },
}

/** Whose call of what is counted. `who` is a UID or an address, as the limit's scope says. */
export interface CountedCall {
  readonly endpoint: string
  readonly limit: RateLimit
  readonly who: string
  /** Copy-trading traders have lower limits where the document says so. */
  readonly isCopyTrader: boolean
}

/** Callers remembered at a time, so that memory is bounded; the one unseen for longest is forgotten first. */
const CALLERS_MAX = 10_000

/** Every documented limit, counted exactly: each endpoint on its own, per UID or per address. */
export class RateLimits {
  readonly #settings: RateLimitSettings
  readonly #counters = new Map<string, CallCounter>()
  readonly #overall = new Map<string, OverallWindow>()

  constructor(settings: RateLimitSettings) {
    this.#settings = settings
  }

  take({ endpoint, limit, who, isCopyTrader }: CountedCall, now: number): Admission {
    const { counting, refusedCallsCount } = this.#settings
    const calls = isCopyTrader ? (limit.copyTraderCalls ?? limit.calls) : limit.calls
    const counter = recall(this.#counters, `${endpoint} ${who}`, () =>
      callCounters[counting]({ calls, perMs: limit.perMs, refusedCallsCount }),
    )
    return counter(now)
  }

  /** Counts one call against the limit of its address over all endpoints. */
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
  /** When the calls that count were made, the first first. */
  readonly takenAt: number[]
  refusedUntil: number
}

/** The caller's entry, now last in the map's order. The first is dropped when there are too many. */
function recall<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const value = map.get(key) ?? create()
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size > CALLERS_MAX) map.delete(oldest)
  return value
}
