import type { EndpointName } from '../../protocol/endpoints.ts'

/** Two endpoints that are refused within this time, in ms, mean more than the limit of one endpoint. */
const TOGETHER_MS = 1000
/** The first rest, in ms. It doubles each time nothing was served since the one before. */
const REST_MS = 2000
/** Beyond the specification: the exchange's FAQ says that recovery takes five minutes. */
const REST_MS_MAX = 300_000

/**
 * Notices that the exchange refuses the whole address, and says how long its reads rest then. The sign is a 429 on two
 * endpoints in a row, with nothing served between them. Without reads there are no fresh prices, so no orders are placed
 * either; calls that reduce risk go on. Instants are monotonic ms.
 */
export class CoolDown {
  #until = Number.NEGATIVE_INFINITY
  #restMs = REST_MS
  #last: { readonly endpoint: EndpointName; readonly at: number } | undefined
  /** Whether a call was served since the last rest: then the address as a whole is not refused. */
  #wasServed = true

  /** Until when reads rest. */
  get until(): number {
    return this.#until
  }

  /** The exchange served a call. */
  noteServed(): void {
    this.#last = undefined
    this.#wasServed = true
  }

  /** The exchange answered 429. Returns how long reads must rest from now on, in ms; undefined: they need not. */
  noteRefused(endpoint: EndpointName, now: number): number | undefined {
    const last = this.#last
    this.#last = { endpoint, at: now }
    if (last === undefined || last.endpoint === endpoint || now - last.at > TOGETHER_MS)
      return undefined
    if (now < this.#until) return undefined
    this.#restMs = this.#wasServed ? REST_MS : Math.min(REST_MS_MAX, 2 * this.#restMs)
    this.#wasServed = false
    this.#until = now + this.#restMs
    return this.#restMs
  }
}
