import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type EndpointName } from '../../protocol/endpoints.ts'
import { DRIFT } from './arrival-bounds.ts'
import { type CallWindow } from './call-window.ts'
import { CoolDown } from './cool-down.ts'
import { PRIORITY, type Priority } from './grant.ts'

export interface OverallLimitOptions {
  readonly calls: number
  readonly perMs: number
  /** What share of them another process made within the window before `opensAt` (monotonic ms), at most. */
  readonly spentBefore: number
  readonly opensAt: number
  readonly clock: Clock
  readonly timers: Timers
  readonly window: CallWindow
  /** A read may be made that had to wait for its turn. */
  readonly onTurn: () => void
  readonly onCoolDown: (restMs: number) => void
}

/** Of all calls, what only those that reduce risk may take: in a minute a cancel-all and a closing batch a second. */
const KEPT_SHARE = 0.02

/** Beyond this share of the window reads are spread over what is left of it: used up at once, they would stand still. */
const UNSPREAD_SHARE = 0.25
/** Two reads that are spread are no further apart, unless the limit itself is lower, ms. */
const SPREAD_MS_MAX = 1000
/** What was not read in so much time may be read at once, ms: many accounts are polled at one moment. */
const MADE_UP_MS = 1000

/** What all endpoints share: so many calls in all from one address, and the rest of reads when it is refused. */
export class OverallLimit {
  readonly #options: OverallLimitOptions
  readonly #coolDown = new CoolDown()
  /** Of reads that are spread, monotonic ms. */
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

  /** Whether a call of this urgency may be granted as far as all endpoints together go. */
  hasRoom(priority: Priority): boolean {
    const { window, clock } = this.#options
    if (window.ready < 1 || window.free <= this.#spent + (priority === PRIORITY.reducesRisk ? 0 : this.#kept))
      return false
    return priority !== PRIORITY.reads || !this.#isSpreading || clock.monotonic() >= this.#nextReadAt
  }

  /** Calls that count still, or are on their way. */
  get inside(): number {
    return this.#options.window.inside
  }

  /** Somebody waits for room. */
  awaitRoom(): void {
    const { window, clock, timers, onTurn } = this.#options
    window.awaitFree()
    const restMs = this.#nextReadAt - clock.monotonic()
    if (restMs <= 0 || !this.#isSpreading || this.#cancelTurn !== undefined || this.#isStopped) return
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

  /** It was not made. */
  putBack(): void {
    this.#options.window.putBack()
  }

  /** The exchange served a call, or said 429. */
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

  /** What counts as made before this process began. */
  get #spent(): number {
    const { window, clock, opensAt, perMs, spentBefore } = this.#options
    const isNew = spentBefore > 0 && clock.monotonic() < opensAt + perMs
    return isNew ? Math.floor(window.allowed * spentBefore) : 0
  }

  /** Of the calls that are left, what only those that reduce risk may take. */
  get #kept(): number {
    return Math.floor(this.#options.window.allowed * KEPT_SHARE)
  }

  get #isSpreading(): boolean {
    const { window } = this.#options
    return window.inside > (window.allowed - this.#spent) * UNSPREAD_SHARE
  }

  /** As fast as calls may be made for ever; slower where those that are left must last until the next one leaves. */
  #spread(): void {
    const { window, clock, perMs } = this.#options
    const now = clock.monotonic()
    const steadyMs = perMs / Math.max(1, window.allowed - this.#kept)
    const left = window.free - this.#kept - this.#spent
    const lastingMs = left < 1 ? 0 : (window.nextLeavesAt - now) / left
    this.#nextReadAt =
      Math.max(this.#nextReadAt, now - MADE_UP_MS) + Math.max(steadyMs, Math.min(lastingMs, SPREAD_MS_MAX))
  }
}
