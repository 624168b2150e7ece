import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { EndpointName } from '../../protocol/endpoints.ts'
import { type CallWindow, DRIFT } from './call-window.ts'
import { PRIORITY, type Priority } from './grant.ts'

export interface OverallLimitOptions {
  readonly calls: number
  readonly perMs: number
  /** The largest share of them that a process before this one can have made in the window before `opensAt` (monotonic ms). */
  readonly spentBefore: number
  readonly opensAt: number
  readonly clock: Clock
  readonly timers: Timers
  readonly window: CallWindow
  /** Called when a read may be made that had to wait. */
  readonly onTurn: () => void
  readonly onCoolDown: (restMs: number) => void
}

/** The share that is kept for calls that reduce risk: a cancel-all and a closing batch each second. */
const KEPT_SHARE = 0.02
/** At least so many of them: a daemon that shares the limit may have hardly more. */
const KEPT_MIN = 10

/** When more than this share of the window is used, reads are spread over time, so that they do not stop when it is used up. */
const UNSPREAD_SHARE = 0.25
/** The largest distance between spread reads, in ms, unless the limit itself asks for more. */
const SPREAD_MS_MAX = 1000
/** Reads that were not made within this time, in ms, may be made at once: many accounts are polled at one moment. */
const MADE_UP_MS = 1000

/** The limit of one address over all endpoints together, and the rest of reads when the whole address is refused. */
export class OverallLimit {
  readonly #options: OverallLimitOptions
  readonly #coolDown = new CoolDown()
  /** When the next read may be made while reads are spread, monotonic ms. */
  #nextReadAt = Number.NEGATIVE_INFINITY
  #cancelTurn: (() => void) | undefined
  #isStopped = false

  constructor(options: OverallLimitOptions) {
    this.#options = options
  }

  /** Monotonic ms before which reads rest. */
  get readsRestUntil(): number {
    return this.#coolDown.until
  }

  /** Whether the overall limit allows a call of this priority. */
  hasRoom(priority: Priority): boolean {
    const { window, clock } = this.#options
    const { allowed, free } = window
    const spent = this.#spentOf(allowed)
    if (free < 1 || !window.hasToken) return false
    if (free <= spent + (priority === PRIORITY.reducesRisk ? 0 : keptOf(allowed))) return false
    if (priority !== PRIORITY.reads || !isSpread(allowed - free, allowed - spent)) return true
    return clock.monotonic() >= this.#nextReadAt
  }

  /** How many calls count now, or are on their way. */
  get inside(): number {
    return this.#options.window.inside
  }

  /** Has `onTurn`, or the window's `onFree`, called when there may be room. */
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

  /** The call was made and is over. */
  leave(): void {
    const { window, clock, perMs } = this.#options
    window.leaveAt(clock.monotonic() + perMs * (1 + DRIFT))
  }

  /** The call was not made. */
  putBack(): void {
    this.#options.window.putBack()
  }

  /** The exchange served a call, or answered 429. */
  noteAnswer(endpoint: EndpointName, isRateLimited: boolean): void {
    if (!isRateLimited) return this.#coolDown.noteServed()
    const restMs = this.#coolDown.noteRefused(endpoint, this.#options.clock.monotonic())
    if (restMs !== undefined) this.#options.onCoolDown(restMs)
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTurn?.()
    return this.#options.window.stop()
  }

  /** Of the calls that are allowed, those that are assumed to come from a process before this one. */
  #spentOf(allowed: number): number {
    const { clock, opensAt, perMs, spentBefore } = this.#options
    const isNew = spentBefore > 0 && clock.monotonic() < opensAt + perMs
    return isNew ? Math.floor(allowed * spentBefore) : 0
  }

  get #isSpreading(): boolean {
    const { allowed, free } = this.#options.window
    return isSpread(allowed - free, allowed - this.#spentOf(allowed))
  }

  /** Sets when the next read may be made: at the steady pace of the limit, or slower so that the calls left last until the next one leaves the window. */
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

/** Of the calls that are allowed, those that are kept for what reduces risk. */
function keptOf(allowed: number): number {
  return Math.max(Math.floor(allowed * KEPT_SHARE), KEPT_MIN)
}

/** Whether so many calls have been made of those that may be that reads are spread over time. */
function isSpread(inside: number, allowed: number): boolean {
  return inside > allowed * UNSPREAD_SHARE
}

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
class CoolDown {
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
