import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type EndpointName } from '../../protocol/endpoints.ts'
import { type ArrivalBounds, DRIFT } from './arrival-bounds.ts'
import { type CallWindow } from './call-window.ts'
import { type Grant, type GrantedCall, PRIORITY, type Priority, type WaitingRequest } from './grant.ts'
import { type EndpointStatistics, LimiterStatistics } from './limiter-statistics.ts'
import { type OverallLimit } from './overall-limit.ts'
import type { LimitUse } from './shared/shared-limits.ts'

export interface EndpointQueueOptions {
  readonly endpoint: EndpointName
  /** Calls a window that we allow ourselves. */
  readonly calls: number
  readonly perMs: number
  /** Keeps its last call for what reduces risk, where it has more than one and any of them can. */
  readonly keepsLast: boolean
  /** Monotonic ms before which nothing is granted. */
  readonly opensAt: number
  readonly bounds: ArrivalBounds
  readonly clock: Clock
  readonly timers: Timers
  readonly createWindow: (onFree: () => void) => CallWindow
  /** What all endpoints share. */
  readonly overall: OverallLimit
}

interface Waiter {
  readonly priority: Priority
  readonly since: number
  readonly onGranted: (grant: Grant) => void
}

/** Requests that may wait, an endpoint. */
const WAITING_MAX = 256

/** Of an even share of the window: of all of it, the jitter of calls that are evenly spread would cost calls. */
const KEPT_SHARE = 0.5

/**
 * After a 429 the endpoint rests this much longer than its window; twice as long when it is refused again by a call
 * that was granted since. What is served since takes one doubling back, and so does time.
 */
const BACK_OFF_MS = 250
const BACK_OFF_MS_MAX = 30_000
/** Time without a 429, after the rest, that forgives one. */
const FORGIVEN_AFTER_MS = 10_000

/**
 * One endpoint's calls, and who waits for them. Instants are monotonic ms.
 *
 * The last call that is free is kept for what reduces risk for a while after each grant. So a burst leaves one
 * call over; and an endpoint that is always busy comes to make its calls apart from each other, the same number
 * in a window, so that what reduces risk waits for the next of them and not for a whole window.
 */
export class EndpointQueue {
  readonly #options: EndpointQueueOptions
  readonly #window: CallWindow
  readonly #statistics: LimiterStatistics
  readonly #waiters: readonly [Waiter[], Waiter[], Waiter[]] = [[], [], []]
  #grantedAt = Number.NEGATIVE_INFINITY
  /** Rests after a 429: all calls, and those that do not reduce risk for as long as it takes. */
  #allRestUntil: number
  #othersRestUntil: number
  #strikes = 0
  #struckAt = Number.NEGATIVE_INFINITY
  #wakesAt = Number.POSITIVE_INFINITY
  #cancelWake: (() => void) | undefined
  #isStopped = false

  constructor(options: EndpointQueueOptions) {
    this.#options = options
    this.#allRestUntil = options.opensAt
    this.#othersRestUntil = options.opensAt
    this.#statistics = new LimiterStatistics(options)
    this.#window = options.createWindow(() => this.serve())
  }

  request(priority: Priority, onGranted: (grant: Grant) => void): WaitingRequest | undefined {
    const since = this.#options.clock.monotonic()
    const waiter: Waiter = { priority, since, onGranted }
    if (!this.#hasWaiters(priority) && this.#canGrant(priority, since)) {
      this.#grant(waiter, since)
      return { cancel: () => undefined }
    }
    if (this.#waiting >= WAITING_MAX) {
      this.#statistics.turnAway()
      return undefined
    }
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

  /**
   * Grants what can be granted, most urgent first; with a priority, only to those that are as urgent.
   * @returns whether anything was
   */
  serve(upTo: Priority = PRIORITY.reads): boolean {
    const { clock } = this.#options
    let hasGranted = false
    for (let priority = this.#mostUrgent(); priority !== undefined; priority = this.#mostUrgent()) {
      if (priority > upTo) break
      const now = clock.monotonic()
      // What holds up the most urgent holds up everybody.
      if (!this.#canGrant(priority, now)) {
        this.#wakeFor(priority, now)
        break
      }
      const waiter = this.#waiters[priority].shift()
      if (waiter === undefined) break
      this.#grant(waiter, now)
      hasGranted = true
    }
    return hasGranted
  }

  /** What is used of the endpoint's calls. */
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
    return this.#waiters[0].length + this.#waiters[1].length + this.#waiters[2].length
  }

  #mostUrgent(): Priority | undefined {
    if (this.#waiters[0].length > 0) return 0
    if (this.#waiters[1].length > 0) return 1
    return this.#waiters[2].length > 0 ? 2 : undefined
  }

  /** Whether anybody waits who is at least as urgent. */
  #hasWaiters(priority: Priority): boolean {
    const mostUrgent = this.#mostUrgent()
    return mostUrgent !== undefined && mostUrgent <= priority
  }

  #canGrant(priority: Priority, now: number): boolean {
    if (this.#window.ready < 1 || !this.#options.overall.hasRoom(priority)) return false
    return now >= this.#restsUntil(priority)
  }

  /** Until when calls of this urgency rest, though there is room for them; in the past when they need not. */
  #restsUntil(priority: Priority): number {
    if (priority === PRIORITY.reducesRisk) return this.#allRestUntil
    const { keepsLast, calls, perMs, overall } = this.#options
    const isLast = keepsLast && calls > 1 && this.#window.free === 1
    const keptUntil = isLast ? this.#grantedAt + KEPT_SHARE * (perMs / calls) : Number.NEGATIVE_INFINITY
    const coolsUntil = priority === PRIORITY.reads ? overall.readsRestUntil : Number.NEGATIVE_INFINITY
    return Math.max(this.#othersRestUntil, keptUntil, coolsUntil)
  }

  /** What holds up whoever is most urgent ends with a call that leaves, here or elsewhere, or with a rest. */
  #wakeFor(priority: Priority, now: number): void {
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

  #grant(waiter: Waiter, now: number): void {
    this.#window.take()
    this.#options.overall.take()
    this.#grantedAt = now
    this.#statistics.grant(now, now - waiter.since)
    waiter.onGranted(this.#createGrant(now))
  }

  #createGrant(grantedAt: number): Grant {
    const { endpoint, overall } = this.#options
    let isOver = false
    return {
      endpoint,
      release: (call = {}) => {
        if (isOver) return
        isOver = true
        this.#statistics.made(grantedAt)
        const { requestTime, isRateLimited = false } = call
        if (isRateLimited) this.#slowDown(grantedAt)
        else if (requestTime !== undefined) this.#forgive(grantedAt)
        this.#window.leaveAt(this.#takenAt(call, grantedAt) + this.#options.perMs * (1 + DRIFT))
        overall.leave()
        if (isRateLimited || requestTime !== undefined) overall.noteAnswer(endpoint, isRateLimited)
      },
      unused: () => {
        if (isOver) return
        isOver = true
        this.#window.putBack()
        overall.putBack()
        this.serve()
      },
    }
  }

  /** When the exchange took the call; where it does not say so, or cannot be right, when the call was over. */
  #takenAt({ requestTime, roundTripMs = 0 }: GrantedCall, grantedAt: number): number {
    const { clock, bounds } = this.#options
    const receivedAt = clock.monotonic()
    if (requestTime === undefined) return receivedAt
    const takenAt = bounds.observe({ requestTime, sentAt: receivedAt - roundTripMs, receivedAt })
    return Math.min(receivedAt, Math.max(takenAt, grantedAt))
  }

  /** Calls that were on their way together are refused together: that is one strike. */
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

  #forgive(grantedAt: number): void {
    if (grantedAt > this.#struckAt) this.#strikes = Math.max(0, this.#strikes - 1)
  }
}
