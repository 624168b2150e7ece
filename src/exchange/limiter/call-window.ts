import Bottleneck from 'bottleneck'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { CallableName } from '../../protocol/endpoints.ts'
import { PRIORITY, type CallPriority } from './grant.ts'

export interface CallWindowOptions {
  readonly calls: number
  /** Limits the calls further where other daemons share the limit. */
  readonly shareOf?: (() => number) | undefined
  readonly stockMin: number
  readonly clock: Clock
  readonly timers: Timers
  readonly createPool: (options: TokenPoolOptions) => TokenPool
  readonly onFree: () => void
}

/**
 * A call needs room here, where calls are counted exactly, and a token of Bottleneck, so an error
 * in one of the two lets no call too many out. A call counts from its grant until it has left the
 * exchange's window.
 */
export class CallWindow {
  readonly #options: CallWindowOptions
  readonly #pool: TokenPool
  readonly #timers = new Set<() => void>()
  readonly #leaving: number[] = []
  #inside = 0
  #isAwaited = false
  #wakesAt = Number.POSITIVE_INFINITY
  #isStopped = false

  constructor(options: CallWindowOptions) {
    const { calls, stockMin, createPool, onFree, timers } = options
    this.#options = options
    this.#pool = createPool({ tokens: calls, stockMin, onStock: onFree, timers })
  }

  get allowed(): number {
    const { calls, shareOf } = this.#options
    return shareOf === undefined ? calls : Math.min(calls, shareOf())
  }

  get free(): number {
    this.#letLeave()
    return this.allowed - this.#inside
  }

  get inside(): number {
    this.#letLeave()
    return this.#inside
  }

  /** Monotonic ms; infinite if all calls that count are in flight. */
  get nextLeavesAt(): number {
    this.#letLeave()
    return this.#leaving[0] ?? Number.POSITIVE_INFINITY
  }

  /** Free calls for which the pool has a token too. */
  get ready(): number {
    return Math.min(this.free, this.#pool.stock)
  }

  take(): void {
    this.#pool.take()
    this.#inside++
  }

  putBack(): void {
    this.#pool.putBack()
    this.#inside--
  }

  leaveAt(at: number): void {
    if (this.#isStopped) return
    const leaving = this.#leaving
    let place = leaving.length
    while (place > 0 && (leaving[place - 1] ?? at) > at) place--
    if (place === leaving.length) leaving.push(at)
    else leaving.splice(place, 0, at)
    const { leadMs } = this.#pool
    if (leadMs > 0) this.#when(at - leadMs, () => this.#pool.giveBack())
    this.#wake()
  }

  /** `onFree` is called once, at the next call that leaves. No timer is set without this. */
  awaitFree(): void {
    this.#letLeave()
    this.#isAwaited = true
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers) cancel()
    await this.#pool.stop()
  }

  #wake(): void {
    const at = this.#leaving[0] ?? Number.POSITIVE_INFINITY
    if (!this.#isAwaited || at >= this.#wakesAt) return
    this.#wakesAt = at
    this.#when(at, () => {
      if (at !== this.#wakesAt) return
      this.#isAwaited = false
      this.#wakesAt = Number.POSITIVE_INFINITY
      this.#options.onFree()
    })
  }

  #letLeave(): void {
    const leaving = this.#leaving
    if (leaving.length === 0) return
    const now = this.#options.clock.monotonic()
    while ((leaving[0] ?? Number.POSITIVE_INFINITY) <= now) {
      leaving.shift()
      this.#inside--
      if (this.#pool.leadMs === 0) this.#pool.giveBack()
    }
  }

  /** A timer can fire early by the length of the turn that set it. */
  #when(at: number, run: () => void): void {
    if (this.#isStopped) return
    const { clock, timers } = this.#options
    const cancel = timers.after(Math.ceil(at - clock.monotonic()), () => {
      this.#timers.delete(cancel)
      if (clock.monotonic() < at) this.#when(at, run)
      else run()
    })
    this.#timers.add(cancel)
  }
}

export interface TokenPool {
  readonly stock: number
  /** A token is given back so long before its call leaves the window. */
  readonly leadMs: number
  take(): void
  giveBack(): void
  putBack(): void
  stop(): Promise<void>
}

export interface TokenPoolOptions {
  readonly tokens: number
  readonly stockMin: number
  readonly onStock: () => void
  readonly timers: Timers
}

/** Bottleneck takes some 4 ms to hand a token out again, longer on a busy machine. */
const LEAD_MS = 25

/**
 * Bottleneck's reservoir counts the tokens, and is never refreshed by itself.
 *
 * A job takes three turns of the event loop, so one job fetches all tokens that the stock lacks.
 * With one job for each token, a busy machine gets too few of them (docs/limits.md).
 */
export class BottleneckPool implements TokenPool {
  readonly leadMs = LEAD_MS
  readonly #limiter: Bottleneck
  readonly #options: TokenPoolOptions
  #stock: number
  /** Tokens in the reservoir that no job fetches; -1 while a job waits for the next. */
  #left: number
  #isFetching = false
  #cancelFetch: (() => void) | undefined
  #isStopped = false

  constructor(options: TokenPoolOptions) {
    this.#options = options
    // Most of an account's hundred pools are never used.
    this.#stock = Math.min(options.stockMin, options.tokens)
    this.#left = options.tokens - this.#stock
    this.#limiter = new Bottleneck({ reservoir: this.#left })
  }

  get stock(): number {
    return this.#stock
  }

  take(): void {
    if (this.#stock < 1) throw new Error('there is no token in stock')
    this.#stock--
    this.#cancelFetch ??= this.#options.timers.after(0, () => {
      this.#cancelFetch = undefined
      this.#fetch()
    })
  }

  giveBack(): void {
    if (this.#isStopped) return
    this.#left++
    forgetWallClock(this.#limiter)
    void this.#limiter.incrementReservoir(1)
  }

  putBack(): void {
    this.#stock++
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelFetch?.()
    this.#stock = 0
    await this.#limiter.stop({ dropWaitingJobs: true })
    await this.#limiter.disconnect()
  }

  #fetch(): void {
    const lacking = this.#options.stockMin - this.#stock
    if (this.#isStopped || this.#isFetching || lacking < 1) return
    const weight = Math.min(lacking, Math.max(1, this.#left))
    this.#isFetching = true
    this.#left -= weight
    forgetWallClock(this.#limiter)
    this.#limiter.schedule({ weight }, () => this.#arrive(weight)).catch(() => undefined)
  }

  #arrive(tokens: number): Promise<void> {
    if (!this.#isStopped) {
      this.#isFetching = false
      this.#stock += tokens
      this.#fetch()
      this.#options.onStock()
    }
    return Promise.resolve()
  }
}

/**
 * Bottleneck spaces jobs by the machine's clock: if it is set back by minutes, every job waits as
 * long, and no public option prevents that. Source: bottleneck 2.19.5,
 * `LocalDatastore.__register__`; the version is pinned, and a test sets the clock.
 */
function forgetWallClock(limiter: Bottleneck): void {
  Object.assign((limiter as unknown as { readonly _store: object })._store, { _nextRequest: 0 })
}

interface AnsweredCall {
  readonly requestTime: number
  readonly sentAt: number
  readonly receivedAt: number
}

/** 500 ppm, the fastest correction that Linux makes. */
export const DRIFT = 5e-4

/** The exchange truncates to ms. */
const ROUNDING_MS = 1

/**
 * A call counts as taken this share of the way back from the latest possible moment to the
 * earliest. docs/limits.md ("The figures behind it") has the measurements.
 */
const BELIEVED_SHARE = 1 / 3
const ANSWERS_MIN = 8

/**
 * Each answer bounds the exchange's lead over our monotonic clock: at least `requestTime -
 * receivedAt`, at most `requestTime - sentAt`. The bounds are intersected.
 */
export class ArrivalBounds {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY
  #learnedAt = 0
  #answers = 0

  /** @returns when the exchange took the call, monotonic ms: rather too late than too early */
  observe({ requestTime, sentAt, receivedAt }: AnsweredCall): number {
    const least = requestTime - receivedAt
    const most = requestTime + ROUNDING_MS - sentAt
    const driftMs = DRIFT * (receivedAt - this.#learnedAt)
    this.#learnedAt = receivedAt
    // After so long a pause this answer alone is more precise.
    if (driftMs > most - least) this.#answers = 0
    this.#least = Math.max(least, this.#least - driftMs)
    this.#most = Math.min(most, this.#most + driftMs)
    this.#answers++
    if (this.#least > this.#most) {
      // A clock was set, or the time is wrong; only the end of the call is known.
      this.#least = least
      this.#most = most
      this.#answers = 1
      return receivedAt
    }
    const believedMs = this.#answers < ANSWERS_MIN ? 0 : BELIEVED_SHARE * (this.#most - this.#least)
    return requestTime + ROUNDING_MS - this.#least - believedMs
  }
}

interface OverallLimitOptions {
  readonly calls: number
  readonly perMs: number
  readonly spentBefore: number
  readonly opensAt: number
  readonly clock: Clock
  readonly timers: Timers
  readonly window: CallWindow
  readonly onTurn: () => void
  readonly onCoolDown: (restMs: number) => void
}

/** The kept calls allow a cancel-all and a closing batch each second. */
const KEPT_SHARE = 0.02
const KEPT_MIN = 10

/** Beyond this use reads are spread over the window, so that they do not stop before its end. */
const UNSPREAD_SHARE = 0.25
const SPREAD_MS_MAX = 1000
/** Many accounts are polled at once: reads missed within this time may be made at once. */
const MADE_UP_MS = 1000

export class OverallLimit {
  readonly #options: OverallLimitOptions
  readonly #coolDown = new CoolDown()
  #nextReadAt = Number.NEGATIVE_INFINITY
  #cancelTurn: (() => void) | undefined
  #isStopped = false

  constructor(options: OverallLimitOptions) {
    this.#options = options
  }

  get readsRestUntil(): number {
    return this.#coolDown.until
  }

  hasRoom(priority: CallPriority): boolean {
    const { window, clock } = this.#options
    const { allowed, free } = window
    const spent = this.#spentOf(allowed)
    if (window.ready < 1) return false
    if (free <= spent + (priority === PRIORITY.reducesRisk ? 0 : keptOf(allowed))) return false
    if (priority < PRIORITY.reads || !this.#isSpreading) return true
    return clock.monotonic() >= this.#nextReadAt
  }

  get inside(): number {
    return this.#options.window.inside
  }

  awaitRoom(): void {
    const { window, clock, timers, onTurn } = this.#options
    window.awaitFree()
    const restMs = this.#nextReadAt - clock.monotonic()
    if (restMs <= 0 || !this.#isSpreading || this.#cancelTurn !== undefined || this.#isStopped)
      return
    this.#cancelTurn = timers.after(Math.ceil(restMs), () => {
      this.#cancelTurn = undefined
      onTurn()
    })
  }

  take(): void {
    this.#options.window.take()
    if (this.#isSpreading) this.#spread()
  }

  leave(endpoint: CallableName, answer: 'served' | 'refused' | 'unknown'): void {
    const { window, clock, perMs, onCoolDown } = this.#options
    const now = clock.monotonic()
    window.leaveAt(now + perMs * (1 + DRIFT))
    if (answer === 'served') this.#coolDown.noteServed()
    const restMs = answer === 'refused' ? this.#coolDown.noteRefused(endpoint, now) : undefined
    if (restMs !== undefined) onCoolDown(restMs)
  }

  putBack(): void {
    this.#options.window.putBack()
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTurn?.()
    return this.#options.window.stop()
  }

  #spentOf(allowed: number): number {
    const { clock, opensAt, perMs, spentBefore } = this.#options
    const isNew = spentBefore > 0 && clock.monotonic() < opensAt + perMs
    return isNew ? Math.floor(allowed * spentBefore) : 0
  }

  get #isSpreading(): boolean {
    const { allowed, free } = this.#options.window
    return allowed - free > (allowed - this.#spentOf(allowed)) * UNSPREAD_SHARE
  }

  #spread(): void {
    const { window, clock, perMs } = this.#options
    const now = clock.monotonic()
    const { allowed, free } = window
    const steadyMs = perMs / Math.max(1, allowed - keptOf(allowed))
    const left = free - keptOf(allowed) - this.#spentOf(allowed)
    const lastingMs = left < 1 ? 0 : (window.nextLeavesAt - now) / left
    this.#nextReadAt =
      Math.max(this.#nextReadAt, now - MADE_UP_MS) +
      Math.max(steadyMs, Math.min(lastingMs, SPREAD_MS_MAX))
  }
}

function keptOf(allowed: number): number {
  return Math.max(Math.floor(allowed * KEPT_SHARE), KEPT_MIN)
}

/**
 * If two endpoints are refused within this time, with nothing served between, the whole address is.
 */
const TOGETHER_MS = 1000
/** A pause is twice the one before if nothing was served between them. */
const REST_MS = 2000
/** Source: the exchange's FAQ, by which recovery takes five minutes. */
const REST_MS_MAX = 300_000

/**
 * Lets reads rest while the whole address is refused (docs/limits.md, "After a 429"). Instants are
 * monotonic ms.
 */
class CoolDown {
  #until = Number.NEGATIVE_INFINITY
  #restMs = REST_MS
  #last: { readonly endpoint: CallableName; readonly at: number } | undefined
  #wasServed = true

  get until(): number {
    return this.#until
  }

  noteServed(): void {
    this.#last = undefined
    this.#wasServed = true
  }

  noteRefused(endpoint: CallableName, now: number): number | undefined {
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
