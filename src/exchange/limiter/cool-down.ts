import { type EndpointName } from '../../protocol/endpoints.ts'

/** Two endpoints refused within one window of each other: it is not one endpoint's limit that was passed. */
const TOGETHER_MS = 1000
/** The first rest; doubled as long as nothing was served between one and the next. */
const REST_MS = 2000
/** Beyond the specification: the exchange's FAQ says that recovery takes five minutes. */
const REST_MS_MAX = 300_000

/**
 * Whether the whole address is being refused, and how long its reads rest for that. The sign is a 429 on two
 * endpoints in a row with nothing served between them. Orders are no longer placed then either, for want of
 * fresh prices; what reduces risk goes on. Instants are monotonic ms.
 */
export class CoolDown {
  #until = Number.NEGATIVE_INFINITY
  #restMs = REST_MS
  #last: { readonly endpoint: EndpointName; readonly at: number } | undefined
  /** Whether a call was served since the last rest: then the address is not refused as a whole. */
  #wasServed = true

  /** Reads rest until then. */
  get until(): number {
    return this.#until
  }

  /** The exchange served a call. */
  noteServed(): void {
    this.#last = undefined
    this.#wasServed = true
  }

  /** The exchange said 429. Answers how long reads rest from now, in ms; undefined when they need not. */
  noteRefused(endpoint: EndpointName, now: number): number | undefined {
    const last = this.#last
    this.#last = { endpoint, at: now }
    if (last === undefined || last.endpoint === endpoint || now - last.at > TOGETHER_MS) return undefined
    if (now < this.#until) return undefined
    this.#restMs = this.#wasServed ? REST_MS : Math.min(REST_MS_MAX, 2 * this.#restMs)
    this.#wasServed = false
    this.#until = now + this.#restMs
    return this.#restMs
  }
}
