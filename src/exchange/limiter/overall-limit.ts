import { type Clock } from '../../lib/clock.ts'
import { type EndpointName } from '../../protocol/endpoints.ts'
import { DRIFT } from './arrival-bounds.ts'
import { type CallWindow } from './call-window.ts'
import { CoolDown } from './cool-down.ts'
import { type Priority } from './grant.ts'

export interface OverallLimitOptions {
  readonly calls: number
  readonly perMs: number
  /** What share of them another process made within the window before `opensAt` (monotonic ms), at most. */
  readonly spentBefore: number
  readonly opensAt: number
  readonly clock: Clock
  readonly window: CallWindow
  readonly onCoolDown: (restMs: number) => void
}

/** Of all calls, what only those that reduce risk may take: in a minute a cancel-all and a closing batch a second. */
const KEPT_SHARE = 0.02

/** What all endpoints share: so many calls in all from one address, and the rest of reads when it is refused. */
export class OverallLimit {
  readonly #options: OverallLimitOptions
  readonly #kept: number
  readonly #coolDown = new CoolDown()

  constructor(options: OverallLimitOptions) {
    this.#options = options
    this.#kept = Math.floor(options.calls * KEPT_SHARE)
  }

  /** Monotonic ms before which reads rest. */
  get readsRestUntil(): number {
    return this.#coolDown.until
  }

  /** Whether a call of this urgency may be granted as far as all endpoints together go. */
  hasRoom(priority: Priority): boolean {
    const { window, clock, opensAt, perMs, spentBefore } = this.#options
    if (window.ready < 1) return false
    const isNew = spentBefore > 0 && clock.monotonic() < opensAt + perMs
    const spent = isNew ? Math.floor(window.allowed * spentBefore) : 0
    return window.free > spent + (priority === 0 ? 0 : this.#kept)
  }

  /** Calls that count still, or are on their way. */
  get inside(): number {
    return this.#options.window.inside
  }

  /** Somebody waits for room. */
  awaitRoom(): void {
    this.#options.window.awaitFree()
  }

  take(): void {
    this.#options.window.take()
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
  heard(endpoint: EndpointName, isRateLimited: boolean): void {
    if (!isRateLimited) return this.#coolDown.serve()
    const restMs = this.#coolDown.strike(endpoint, this.#options.clock.monotonic())
    if (restMs !== undefined) this.#options.onCoolDown(restMs)
  }

  stop(): Promise<void> {
    return this.#options.window.stop()
  }
}
