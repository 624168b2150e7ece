import { Percentiles } from '../../lib/percentiles.ts'
import type { EndpointName } from '../../protocol/endpoints.ts'

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
  /** Requests in the queue now. */
  readonly waiting: number
  /** Ms from the request for a grant to the grant, over all of them. */
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  /** Share of the allowed calls that were made, from the first grant to now: 0 to 1. */
  readonly usedShare: number
  /** Most grants used in any window. */
  readonly windowMax: number
  /** How long calls took, from their first byte to the answer, or until the wait for it was given up. */
  readonly answerTimes: AnswerTimes
}

/** A histogram as Prometheus counts: in each bucket everything that took no longer. */
export interface AnswerTimes {
  readonly count: number
  readonly sumMs: number
  /** By upper bound, ms. */
  readonly buckets: readonly (readonly [upToMs: number, count: number])[]
}

/** From a machine beside the exchange to one that waits for seconds, ms. */
const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/** Counts what one endpoint's limiter does. Instants are monotonic ms. */
export class LimiterStatistics {
  readonly #limit: Pick<EndpointStatistics, 'endpoint' | 'calls' | 'perMs'>
  readonly #counts = { granted: 0, made: 0, turnedAway: 0, rateLimited: 0 }
  /** Made for the first wait: most endpoints are never called. */
  #waits: Percentiles | undefined
  /** When the last grants were given, oldest first; at most as many as the window allows. */
  readonly #recentAt: number[] = []
  #windowMax = 0
  readonly #within: number[] = BUCKETS_MS.map(() => 0)
  #answers = 0
  #answersMs = 0
  #firstAt: number | undefined

  constructor({
    endpoint,
    calls,
    perMs,
  }: Pick<EndpointStatistics, 'endpoint' | 'calls' | 'perMs'>) {
    this.#limit = { endpoint, calls, perMs }
  }

  grant(now: number, waitedMs: number): void {
    this.#firstAt ??= now
    this.#waits ??= new Percentiles()
    this.#waits.record(waitedMs)
    this.#counts.granted++
  }

  made(grantedAt: number): void {
    this.#counts.made++
    this.#recentAt.push(grantedAt)
    while ((this.#recentAt[0] ?? grantedAt) <= grantedAt - this.#limit.perMs) this.#recentAt.shift()
    this.#windowMax = Math.max(this.#windowMax, this.#recentAt.length)
  }

  /** @param tookMs From the first byte until the call was over. */
  over(tookMs: number): void {
    this.#answers += 1
    this.#answersMs += tookMs
    for (const [index, upToMs] of BUCKETS_MS.entries())
      if (tookMs <= upToMs) this.#within[index] = (this.#within[index] ?? 0) + 1
  }

  turnAway(): void {
    this.#counts.turnedAway++
  }

  rateLimit(): void {
    this.#counts.rateLimited++
  }

  read(now: number): Omit<EndpointStatistics, 'waiting'> {
    const waits = this.#waits?.summary()
    const windows = Math.max(1, (now - (this.#firstAt ?? now)) / this.#limit.perMs)
    return {
      ...this.#limit,
      ...this.#counts,
      waitedMsP50: waits?.p50Ms ?? 0,
      waitedMsP99: waits?.p99Ms ?? 0,
      usedShare: this.#counts.made / (windows * this.#limit.calls),
      windowMax: this.#windowMax,
      answerTimes: {
        count: this.#answers,
        sumMs: this.#answersMs,
        buckets: BUCKETS_MS.map((upToMs, index) => [upToMs, this.#within[index] ?? 0]),
      },
    }
  }
}
