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
  /** Ms from the request for a grant to the grant, over the last {@link WAITS_KEPT}. */
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  /** Share of the allowed calls that were made, from the first grant to now: 0 to 1. */
  readonly usedShare: number
  /** Most grants used in any window. */
  readonly windowMax: number
}

const WAITS_KEPT = 2048

/** Counts what one endpoint's limiter does. Instants are monotonic ms. */
export class LimiterStatistics {
  readonly #endpoint: EndpointName
  readonly #calls: number
  readonly #perMs: number
  /** A ring, made for the first wait: most endpoints are never called. */
  #waitedMs = new Float64Array(0)
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
    if (this.#granted === 0) this.#waitedMs = new Float64Array(WAITS_KEPT)
    this.#firstAt ??= now
    this.#waitedMs[this.#granted % WAITS_KEPT] = waitedMs
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
    const waits = this.#waitedMs.slice(0, Math.min(this.#granted, WAITS_KEPT)).toSorted()
    const windows = Math.max(1, (now - (this.#firstAt ?? now)) / this.#perMs)
    return {
      endpoint: this.#endpoint,
      calls: this.#calls,
      perMs: this.#perMs,
      granted: this.#granted,
      made: this.#made,
      turnedAway: this.#turnedAway,
      rateLimited: this.#rateLimited,
      waitedMsP50: quantile(waits, 0.5),
      waitedMsP99: quantile(waits, 0.99),
      usedShare: this.#made / (windows * this.#calls),
      windowMax: this.#windowMax,
    }
  }
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
