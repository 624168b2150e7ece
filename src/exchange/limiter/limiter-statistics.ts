import { Percentiles } from '../../lib/percentiles.ts'
import { type EndpointName } from '../../protocol/endpoints.ts'

/** What the closing summary says of one endpoint. */
export interface EndpointStatistics {
  readonly endpoint: EndpointName
  /** Calls a window that we allow ourselves, and the window. */
  readonly calls: number
  readonly perMs: number
  readonly granted: number
  /** Granted and made; the difference was given back unused or is still out. */
  readonly made: number
  /** Requests turned away because too many were waiting. */
  readonly turnedAway: number
  /** How often the exchange said 429 all the same. */
  readonly rateLimited: number
  /** Ms from the request for a grant to the grant, over all of them. */
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  /** Share of the allowed calls that were made, from the first grant to now: 0 to 1. */
  readonly usedShare: number
  /** Most grants used in any window. */
  readonly windowMax: number
}

/** Counts what one endpoint's limiter does. Instants are monotonic ms. */
export class LimiterStatistics {
  readonly #endpoint: EndpointName
  readonly #calls: number
  readonly #perMs: number
  /** Made for the first wait: most endpoints are never called. */
  #waits: Percentiles | undefined
  /** When the last grants were given, oldest first; at most as many as the window allows. */
  readonly #recentAt: number[] = []
  #granted = 0
  #made = 0
  #turnedAway = 0
  #rateLimited = 0
  #windowMax = 0
  #firstAt: number | undefined

  constructor(options: { endpoint: EndpointName; calls: number; perMs: number }) {
    this.#endpoint = options.endpoint
    this.#calls = options.calls
    this.#perMs = options.perMs
  }

  grant(now: number, waitedMs: number): void {
    this.#firstAt ??= now
    this.#waits ??= new Percentiles()
    this.#waits.record(waitedMs)
    this.#granted++
  }

  made(grantedAt: number): void {
    this.#made++
    this.#recentAt.push(grantedAt)
    while ((this.#recentAt[0] ?? grantedAt) <= grantedAt - this.#perMs) this.#recentAt.shift()
    this.#windowMax = Math.max(this.#windowMax, this.#recentAt.length)
  }

  turnAway(): void {
    this.#turnedAway++
  }

  rateLimit(): void {
    this.#rateLimited++
  }

  read(now: number): EndpointStatistics {
    const waits = this.#waits?.summary()
    const windows = Math.max(1, (now - (this.#firstAt ?? now)) / this.#perMs)
    return {
      endpoint: this.#endpoint,
      calls: this.#calls,
      perMs: this.#perMs,
      granted: this.#granted,
      made: this.#made,
      turnedAway: this.#turnedAway,
      rateLimited: this.#rateLimited,
      waitedMsP50: waits?.p50Ms ?? 0,
      waitedMsP99: waits?.p99Ms ?? 0,
      usedShare: this.#made / (windows * this.#calls),
      windowMax: this.#windowMax,
    }
  }
}
