import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { CallableName } from '../../protocol/endpoints.ts'
import { DRIFT } from './arrival-bounds.ts'
import type { CallWindow } from './call-window.ts'
import { PRIORITY, type CallPriority } from './grant.ts'

interface OverallLimitOptions {
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

/** Limits the calls of all endpoints of an address together. Instants are monotonic ms. */
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

/** Lets reads rest while the whole address is refused (docs/limits.md, "After a 429"). */
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
