import type { Clock } from '../../lib/clock.ts'
import { Percentiles } from '../../lib/percentiles.ts'
import type { Timers } from '../../lib/timers.ts'
import type { CallableName } from '../../protocol/endpoints.ts'
import { type ArrivalBounds, DRIFT } from './arrival-bounds.ts'
import type { CallWindow } from './call-window.ts'
import {
  type Grant,
  type GrantedCall,
  PRIORITY,
  type CallPriority,
  type WaitingRequest,
} from './grant.ts'
import type { OverallLimit } from './overall-limit.ts'
import type { LimitUse } from './shared/shared-limits.ts'

interface EndpointQueueOptions {
  readonly endpoint: CallableName
  readonly calls: number
  readonly perMs: number
  readonly keepsLast: boolean
  readonly opensAt: number
  readonly bounds: ArrivalBounds
  readonly clock: Clock
  readonly timers: Timers
  readonly createWindow: (onFree: () => void) => CallWindow
  readonly overall: OverallLimit
}

interface Waiter {
  readonly since: number
  readonly onGranted: (grant: Grant) => void
}

const GRANTED: WaitingRequest = { cancel: () => undefined }

const WAITING_MAX = 256

/**
 * The last call is kept for this share of the time between evenly spread calls. With 1, a call that
 * came slightly early would be lost.
 */
const KEPT_SHARE = 0.5

/**
 * The pause beyond the window doubles with each 429 of a call that was granted after the last one.
 * A served call halves it, and so does time.
 */
const BACK_OFF_MS = 250
const BACK_OFF_MS_MAX = 30_000
/** Each such time takes back one doubling. */
const FORGIVEN_AFTER_MS = 10_000

/**
 * For a while after each grant the last free call is kept for requests that reduce risk. They then
 * wait at most for the next call of the window, not for the next window. Instants are monotonic ms.
 */
export class EndpointQueue {
  readonly endpoint: CallableName
  readonly #options: EndpointQueueOptions
  readonly #window: CallWindow
  readonly #statistics: LimiterStatistics
  readonly #waiters: readonly [Waiter[], Waiter[], Waiter[], Waiter[]] = [[], [], [], []]
  #grantedAt = Number.NEGATIVE_INFINITY
  /** These hold for all calls, and after repeated 429s longer for those that do not reduce risk. */
  #allRestUntil: number
  #othersRestUntil: number
  #strikes = 0
  #struckAt = Number.NEGATIVE_INFINITY
  #wakesAt = Number.POSITIVE_INFINITY
  #cancelWake: (() => void) | undefined
  #isStopped = false

  constructor(options: EndpointQueueOptions) {
    this.endpoint = options.endpoint
    this.#options = options
    this.#allRestUntil = options.opensAt
    this.#othersRestUntil = options.opensAt
    this.#statistics = new LimiterStatistics(options)
    this.#window = options.createWindow(() => this.serve())
  }

  /**
   * Takes a grant as {@link request} does, without an object for it; {@link end} follows. False: a
   * request would wait.
   */
  takeAtOnce(priority: CallPriority): boolean {
    const now = this.#options.clock.monotonic()
    if (!this.#isFree(priority, now)) return false
    this.#take(now, now)
    return true
  }

  request(priority: CallPriority, onGranted: (grant: Grant) => void): WaitingRequest | undefined {
    const since = this.#options.clock.monotonic()
    if (this.#isFree(priority, since)) {
      this.#grant({ onGranted, since, now: since })
      return GRANTED
    }
    if (this.#waiting >= WAITING_MAX) {
      this.#statistics.turnAway()
      return undefined
    }
    const waiter: Waiter = { since, onGranted }
    const queue = this.#waiters[priority]
    queue.push(waiter)
    this.#wakeFor(priority, since)
    return {
      cancel: () => {
        const index = queue.indexOf(waiter)
        if (index >= 0) queue.splice(index, 1)
      },
    }
  }

  end(grantedAt: number, { requestTime, roundTripMs, isRateLimited = false }: GrantedCall): void {
    const { clock, bounds, perMs, overall } = this.#options
    const isServed = requestTime !== undefined && !isRateLimited
    const receivedAt = clock.monotonic()
    const sentAt = receivedAt - (roundTripMs ?? 0)
    const takenAt =
      requestTime === undefined
        ? receivedAt
        : Math.max(bounds.observe({ requestTime, sentAt, receivedAt }), grantedAt)
    this.#statistics.made(grantedAt, roundTripMs)
    if (isRateLimited) this.#slowDown(grantedAt)
    else if (isServed && grantedAt > this.#struckAt) this.#strikes = Math.max(0, this.#strikes - 1)
    this.#window.leaveAt(Math.min(receivedAt, takenAt) + perMs * (1 + DRIFT))
    overall.leave(this.endpoint, isRateLimited ? 'refused' : isServed ? 'served' : 'unknown')
  }

  putBack(): void {
    this.#window.putBack()
    this.#options.overall.putBack()
    this.serve()
  }

  serve(upTo: CallPriority = PRIORITY.background): boolean {
    const { clock } = this.#options
    let hasGranted = false
    for (let priority = this.#mostUrgent(); priority !== undefined; priority = this.#mostUrgent()) {
      if (priority > upTo) break
      const now = clock.monotonic()
      // The most urgent request holds up all others.
      if (!this.#canGrant(priority, now)) {
        this.#wakeFor(priority, now)
        break
      }
      const waiter = this.#waiters[priority].shift()
      if (waiter === undefined) break
      this.#grant({ ...waiter, now })
      hasGranted = true
    }
    return hasGranted
  }

  readUse(): LimitUse {
    return { inside: this.#window.inside, waiting: this.#waiting }
  }

  statistics(now: number): EndpointStatistics {
    return { ...this.#statistics.read(now), waiting: this.#waiting }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const queue of this.#waiters) queue.length = 0
    this.#cancelWake?.()
    await this.#window.stop()
  }

  get #waiting(): number {
    return this.#waiters.reduce((waiting, queue) => waiting + queue.length, 0)
  }

  #mostUrgent(): CallPriority | undefined {
    if (this.#waiters[0].length > 0) return 0
    if (this.#waiters[1].length > 0) return 1
    if (this.#waiters[2].length > 0) return 2
    return this.#waiters[3].length > 0 ? 3 : undefined
  }

  #isFree(priority: CallPriority, now: number): boolean {
    const ahead = this.#mostUrgent()
    return (ahead === undefined || ahead > priority) && this.#canGrant(priority, now)
  }

  #canGrant(priority: CallPriority, now: number): boolean {
    if (this.#window.ready < 1 || !this.#options.overall.hasRoom(priority)) return false
    return now >= this.#restsUntil(priority)
  }

  #restsUntil(priority: CallPriority): number {
    if (priority === PRIORITY.reducesRisk) return this.#allRestUntil
    const { keepsLast, calls, perMs, overall } = this.#options
    const isLast = keepsLast && calls > 1 && this.#window.free === 1
    const keptUntil = isLast
      ? this.#grantedAt + KEPT_SHARE * (perMs / calls)
      : Number.NEGATIVE_INFINITY
    const coolsUntil =
      priority >= PRIORITY.reads ? overall.readsRestUntil : Number.NEGATIVE_INFINITY
    return Math.max(this.#othersRestUntil, keptUntil, coolsUntil)
  }

  #wakeFor(priority: CallPriority, now: number): void {
    this.#window.awaitFree()
    this.#options.overall.awaitRoom()
    const at = this.#restsUntil(priority)
    if (at <= now || at >= this.#wakesAt || this.#isStopped) return
    this.#cancelWake?.()
    this.#wakesAt = at
    this.#cancelWake = this.#options.timers.after(Math.ceil(at - now), () => {
      this.#wakesAt = Number.POSITIVE_INFINITY
      this.serve()
    })
  }

  #grant({ onGranted, since, now }: Waiter & { readonly now: number }): void {
    this.#take(since, now)
    onGranted(new EndpointGrant(this, now))
  }

  #take(since: number, now: number): void {
    this.#window.take()
    this.#options.overall.take()
    this.#grantedAt = now
    this.#statistics.grant(now, now - since)
  }

  /** Calls that were in flight together count as one strike. */
  #slowDown(grantedAt: number): void {
    const { clock, perMs } = this.#options
    const now = clock.monotonic()
    if (grantedAt > this.#struckAt) {
      const quietMs = Math.max(0, now - this.#othersRestUntil)
      this.#strikes = Math.max(0, this.#strikes - Math.floor(quietMs / FORGIVEN_AFTER_MS)) + 1
      this.#struckAt = now
    }
    const backOffMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** (this.#strikes - 1))
    this.#allRestUntil = Math.max(this.#allRestUntil, now + perMs + BACK_OFF_MS)
    this.#othersRestUntil = Math.max(this.#othersRestUntil, now + perMs + backOffMs)
    this.#statistics.rateLimit()
  }
}

const NOTHING_KNOWN: GrantedCall = {}

class EndpointGrant implements Grant {
  readonly endpoint: CallableName
  readonly #queue: EndpointQueue
  readonly #grantedAt: number
  #isOver = false

  constructor(queue: EndpointQueue, grantedAt: number) {
    this.#queue = queue
    this.endpoint = queue.endpoint
    this.#grantedAt = grantedAt
  }

  release(call: GrantedCall = NOTHING_KNOWN): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.end(this.#grantedAt, call)
  }

  unused(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.putBack()
  }
}

export interface EndpointStatistics {
  readonly endpoint: CallableName
  readonly calls: number
  readonly perMs: number
  readonly granted: number
  /** Grants with a call; the others were returned or are in flight. */
  readonly made: number
  readonly turnedAway: number
  readonly rateLimited: number
  readonly waiting: number
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  readonly usedShare: number
  readonly windowMax: number
  readonly answerTimes: AnswerHistogram
}

/** A Prometheus histogram: each bucket includes the smaller ones. */
export interface AnswerHistogram {
  readonly count: number
  readonly sumMs: number
  readonly buckets: readonly (readonly [upToMs: number, count: number])[]
}

const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

class LimiterStatistics {
  readonly #limit: Pick<EndpointStatistics, 'endpoint' | 'calls' | 'perMs'>
  readonly #counts = { granted: 0, made: 0, turnedAway: 0, rateLimited: 0 }
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

  made(grantedAt: number, tookMs: number | undefined): void {
    this.#counts.made++
    this.#recentAt.push(grantedAt)
    while ((this.#recentAt[0] ?? grantedAt) <= grantedAt - this.#limit.perMs) this.#recentAt.shift()
    this.#windowMax = Math.max(this.#windowMax, this.#recentAt.length)
    if (tookMs === undefined) return
    this.#answers += 1
    this.#answersMs += tookMs
    // Begins with the greatest bucket, because most answers are in the greater half of them.
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
