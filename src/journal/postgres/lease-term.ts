import type { Clock } from '../../lib/clock.ts'

/** How often the lease is renewed within its term; after a failure oftener. */
const RENEWALS = 4
const TRIES = 20
/**
 * It counts as over this share before its end: two clocks drift, and a request signed at the last
 * moment is valid for as long as the successor waits.
 */
const MARGIN = 0.1

/** Both clocks of the machine. */
export interface Instant {
  readonly monotonic: number
  readonly now: number
}

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), now: clock.now() }
}

/**
 * When requests may be signed under a lease. The exchange knows no token, so nothing may be signed
 * once another machine could have it: both clocks must be before the deadline, since one stops
 * while the machine is suspended, and the other can be set. The deadline counts from before the
 * granted query, so it is never later than the server's. A term that is over stays over.
 */
export class LeaseTerm {
  readonly #clock: Clock
  readonly #lastingMs: number
  #deadline: Instant
  #isOver = false

  /** @param asked before the lease was requested */
  constructor(clock: Clock, lastingMs: number, asked: Instant) {
    this.#clock = clock
    this.#lastingMs = lastingMs
    this.#deadline = this.#deadlineFrom(asked)
  }

  get isOver(): boolean {
    const { monotonic, now } = instantOf(this.#clock)
    const isBefore = monotonic < this.#deadline.monotonic && now < this.#deadline.now
    this.#isOver ||= !isBefore
    return this.#isOver
  }

  /** The monotonic clock counts. */
  get leftMs(): number {
    return Math.max(0, this.#deadline.monotonic - this.#clock.monotonic())
  }

  renewInMs(hasFailed: boolean): number {
    return Math.min(this.#lastingMs / (hasFailed ? TRIES : RENEWALS), this.leftMs)
  }

  /**
   * Granted to the request of that moment. A late answer does not begin a term that is over again.
   */
  extend(asked: Instant): void {
    if (!this.isOver) this.#deadline = this.#deadlineFrom(asked)
  }

  #deadlineFrom({ monotonic, now }: Instant): Instant {
    const ms = this.#lastingMs * (1 - MARGIN)
    return { monotonic: monotonic + ms, now: now + ms }
  }
}
