import { type Clock } from '../lib/clock.ts'
import { type Timers } from '../lib/timers.ts'
import { type EndpointName } from '../protocol/endpoints.ts'
import { type ClockOffset } from './clock-offset.ts'
import { DueQueue } from './due-queue.ts'
import { type Grant, type GrantedCall, MARGIN_MS, type Priority, type Waiting } from './grant.ts'
import { type EndpointStatistics, LimiterStatistics } from './limiter-statistics.ts'
import { type TokenPool, type TokenPoolOptions } from './token-pool.ts'

export interface EndpointLaneOptions {
  readonly endpoint: EndpointName
  /** Calls a window that we allow ourselves. */
  readonly calls: number
  readonly perMs: number
  readonly waitingMax: number
  /** The limit over all endpoints: a call takes one token of each. */
  readonly overall: { readonly pool: TokenPool; readonly payBack: () => void }
  readonly clock: Clock
  readonly timers: Timers
  readonly offset: ClockOffset
  readonly createPool: (options: TokenPoolOptions) => TokenPool
}

interface Waiter {
  readonly priority: Priority
  readonly since: number
  readonly onGranted: (grant: Grant) => void
}

/** After the first 429 the endpoint rests this much longer than its window; twice as long after each further one. */
const BACK_OFF_MS = 250
const BACK_OFF_MS_MAX = 30_000
/** Time without a 429 that forgives one. */
const FORGIVEN_AFTER_MS = 10_000

/** One endpoint's tokens, and who waits for them. Instants are monotonic ms. */
export class EndpointLane {
  readonly #options: EndpointLaneOptions
  readonly #pool: TokenPool
  readonly #due: DueQueue
  readonly #statistics: LimiterStatistics
  readonly #waiters: readonly [Waiter[], Waiter[], Waiter[]] = [[], [], []]
  #restsUntil = Number.NEGATIVE_INFINITY
  #strikes = 0
  #struckAt = 0
  #cancelWake: (() => void) | undefined

  constructor(options: EndpointLaneOptions) {
    const { clock, timers, calls } = options
    this.#options = options
    this.#statistics = new LimiterStatistics(options)
    // All of them ahead of need: one process, so nobody else could use a token that lies in stock.
    this.#pool = options.createPool({ tokens: calls, stockMin: calls, onStock: () => this.serve() })
    this.#due = new DueQueue({ clock, timers, onDue: (count) => this.#pool.giveBack(count) })
  }

  get ready(): number {
    if (this.#waiting > 0 || this.#options.clock.monotonic() < this.#restsUntil) return 0
    return Math.min(this.#pool.stock, this.#options.overall.pool.stock)
  }

  request(priority: Priority, onGranted: (grant: Grant) => void): Waiting | undefined {
    const since = this.#options.clock.monotonic()
    const waiter: Waiter = { priority, since, onGranted }
    if (this.ready > 0) {
      this.#grant(waiter, since)
      return { cancel: () => undefined }
    }
    if (this.#waiting >= this.#options.waitingMax) {
      this.#statistics.turnAway()
      return undefined
    }
    const queue = this.#waiters[priority]
    queue.push(waiter)
    this.#pool.want(this.#waiting)
    return {
      cancel: () => {
        const index = queue.indexOf(waiter)
        if (index >= 0) queue.splice(index, 1)
      },
    }
  }

  /** Grants what can be granted, most urgent first; with a priority, only to those that are as urgent. */
  serve(upTo: Priority = 2): void {
    const { clock, overall } = this.#options
    while (this.#pool.stock > 0 && overall.pool.stock > 0) {
      const now = clock.monotonic()
      if (now < this.#restsUntil) return
      const waiter = this.#nextWaiter(upTo)
      if (waiter === undefined) return
      this.#grant(waiter, now)
    }
  }

  penalise(): void {
    const { clock, timers, perMs } = this.#options
    const now = clock.monotonic()
    const forgiven = Math.floor((now - this.#struckAt) / FORGIVEN_AFTER_MS)
    this.#strikes = Math.max(0, this.#strikes - forgiven) + 1
    this.#struckAt = now
    const backOffMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** (this.#strikes - 1))
    this.#restsUntil = Math.max(this.#restsUntil, now + perMs + backOffMs)
    this.#statistics.rateLimit()
    this.#cancelWake?.()
    // One more millisecond: a timer may fire a fraction early, and then nobody would be served.
    this.#cancelWake = timers.after(Math.ceil(this.#restsUntil - now) + 1, () => this.serve())
  }

  statistics(now: number): EndpointStatistics {
    return this.#statistics.read(now)
  }

  async stop(): Promise<void> {
    for (const queue of this.#waiters) queue.length = 0
    this.#cancelWake?.()
    this.#due.stop()
    await this.#pool.stop()
  }

  get #waiting(): number {
    return this.#waiters[0].length + this.#waiters[1].length + this.#waiters[2].length
  }

  #nextWaiter(upTo: Priority): Waiter | undefined {
    for (const queue of this.#waiters.slice(0, upTo + 1)) {
      const waiter = queue.shift()
      if (waiter !== undefined) return waiter
    }
    return undefined
  }

  #grant(waiter: Waiter, now: number): void {
    const { overall } = this.#options
    this.#pool.take()
    this.#pool.want(this.#waiting)
    overall.pool.take()
    this.#statistics.grant(now, now - waiter.since)
    waiter.onGranted(this.#createGrant(now))
  }

  #createGrant(grantedAt: number): Grant {
    let isOver = false
    return {
      endpoint: this.#options.endpoint,
      release: (call) => {
        if (isOver) return
        isOver = true
        this.#statistics.made(grantedAt)
        this.#due.add(this.#options.perMs + MARGIN_MS - this.#ageMs(call, grantedAt))
        this.#options.overall.payBack()
      },
      unused: () => {
        if (isOver) return
        isOver = true
        this.#pool.putBack()
        this.#options.overall.pool.putBack()
        this.serve()
      },
    }
  }

  /** How long ago the exchange took the call, in ms; never longer than it really was. */
  #ageMs({ requestTime }: GrantedCall = {}, grantedAt: number): number {
    if (requestTime === undefined) return 0
    const { clock, offset } = this.#options
    const age = clock.now() - offset.latestLocalTimeOf(requestTime)
    return Math.min(Math.max(0, age), clock.monotonic() - grantedAt)
  }
}
