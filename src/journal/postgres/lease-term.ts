import type { Clock } from '../../lib/clock.ts'

/**
 * The lease is renewed this often within its term; after a failure more often, since its term runs
 * out.
 */
const RENEWALS = 4
const TRIES = 20
/**
 * It counts as over this much before its end, as a share of its term: two clocks drift apart, and a
 * request signed at the last moment is valid for as long as the successor waits.
 */
const MARGIN = 0.1

/** A moment by both clocks of the machine, ms. */
export interface Instant {
  readonly monotonic: number
  readonly now: number
}

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), now: clock.now() }
}

/**
 * The time within which requests may be signed under a lease. The exchange knows no token, so
 * nothing may be signed once another machine could have the lease: both clocks must be before the
 * deadline, since one stops while the machine is suspended, and the other can be set. The deadline
 * counts from before the query that the server granted, and so is never later than the server's. A
 * term that is over stays over.
 */
export class LeaseTerm {
  readonly #clock: Clock
  readonly #lastingMs: number
  #deadline: Instant
  #isOver = false

  /** @param asked The moment before the lease was requested. */
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

  /** Time until the deadline, by the monotonic clock, ms. */
  get leftMs(): number {
    return Math.max(0, this.#deadline.monotonic - this.#clock.monotonic())
  }

  /** Time until the next renewal, ms. */
  renewInMs(hasFailed: boolean): number {
    return Math.min(this.#lastingMs / (hasFailed ? TRIES : RENEWALS), this.leftMs)
  }

  /**
   * The server has granted the request of that moment. Its answer may come late: a term that is
   * over does not begin again.
   */
  extend(asked: Instant): void {
    if (!this.isOver) this.#deadline = this.#deadlineFrom(asked)
  }

  #deadlineFrom({ monotonic, now }: Instant): Instant {
    const ms = this.#lastingMs * (1 - MARGIN)
    return { monotonic: monotonic + ms, now: now + ms }
  }
}
