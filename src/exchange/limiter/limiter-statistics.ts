import { Percentiles } from '../../lib/percentiles.ts'
import type { CallableName } from '../../protocol/endpoints.ts'

export interface EndpointStatistics {
  readonly endpoint: CallableName
  readonly calls: number
  readonly perMs: number
  readonly granted: number
  /** Used grants; others were returned or are in flight. */
  readonly made: number
  readonly turnedAway: number
  readonly rateLimited: number
  readonly waiting: number
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  readonly usedShare: number
  readonly windowMax: number
  readonly answerTimes: AnswerTimes
}

/** A Prometheus histogram: each bucket includes the smaller ones. */
export interface AnswerTimes {
  readonly count: number
  readonly sumMs: number
  readonly buckets: readonly (readonly [upToMs: number, count: number])[]
}

const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

export class LimiterStatistics {
  readonly #limit: Pick<EndpointStatistics, 'endpoint' | 'calls' | 'perMs'>
  readonly #counts = { granted: 0, made: 0, turnedAway: 0, rateLimited: 0 }
  /** Most endpoints are never called. */
  #waits: Percentiles | undefined
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

  over(tookMs: number): void {
    this.#answers += 1
    this.#answersMs += tookMs
    // Buckets rise, and most answers are in the greater half of them.
    for (let place = BUCKETS_MS.length - 1; place >= 0; place--) {
      if (tookMs > (BUCKETS_MS[place] ?? 0)) return
      this.#within[place] = (this.#within[place] ?? 0) + 1
    }
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
