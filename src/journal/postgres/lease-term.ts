import type { Clock } from '../../lib/clock.ts'

/** It is made to last again this often within its time; where that fails, sooner, since its time runs out. */
const RENEWALS = 4
const TRIES = 20
/**
 * It counts as over so much before its end, as a share of it: two clocks do not run alike, and what was signed at the
 * last moment has a valid signature for as long as the one who takes over waits.
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
 * For how long something may be signed under a lease. The exchange knows no token, so nothing may be signed once the
 * lease could be another's: both clocks must be before the deadline, since one stands still while the machine is
 * suspended, and the other can be set. The deadline is counted from before the question that the server granted, and
 * so never lies behind the server's. What is over once stays so.
 */
export class LeaseTerm {
  readonly #clock: Clock
  readonly #lastingMs: number
  #deadline: Instant
  #isOver = false

  /** @param asked before the lease was asked for. */
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

  /** Until the deadline, by the clock that counts time, ms. */
  get leftMs(): number {
    return Math.max(0, this.#deadline.monotonic - this.#clock.monotonic())
  }

  /** When the server is to be asked again, ms. */
  renewInMs(hasFailed: boolean): number {
    return Math.min(this.#lastingMs / (hasFailed ? TRIES : RENEWALS), this.leftMs)
  }

  /** The server has granted what was asked then. An answer may come late: what is over is not held again. */
  extend(asked: Instant): void {
    if (!this.isOver) this.#deadline = this.#deadlineFrom(asked)
  }

  #deadlineFrom({ monotonic, now }: Instant): Instant {
    const ms = this.#lastingMs * (1 - MARGIN)
    return { monotonic: monotonic + ms, now: now + ms }
  }
}
