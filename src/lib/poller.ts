import type { Clock } from './clock.ts'
import { messageOf } from './failure.ts'
import { type DurationSummary, Percentiles } from './percentiles.ts'
import type { Timers } from './timers.ts'

export interface PollerOptions {
  readonly intervalMs: number
  /** @param slotAt Unix ms, our clock, when the poll was due */
  poll(slotAt: number): Promise<void>
  /** The next slot is polled all the same. */
  onError(error: unknown): void
  readonly clock: Clock
  readonly timers: Timers
}

export interface PollerStats {
  readonly polls: number
  readonly lateness: DurationSummary
}

/**
 * Polls are at multiples of an interval on the clock, so lateness does not add up and two processes
 * poll at the same instants. Slots that pass during a poll are skipped.
 *
 *     stopped -- start() --> waiting -- slot due --> polling -- done --> waiting
 *     waiting -- stop() --> stopped      polling -- stop() --> stopping -- done --> stopped
 */
export class Poller {
  readonly #options: PollerOptions
  readonly #lateness = new Percentiles()
  #isRunning = false
  #cancelWait: (() => void) | undefined
  #inFlight: Promise<void> | undefined
  #polls = 0

  /** @throws RangeError unless the interval is a whole number of ms, at least 1. */
  constructor(options: PollerOptions) {
    if (!Number.isSafeInteger(options.intervalMs) || options.intervalMs < 1) {
      throw new RangeError(`an interval is a whole number of ms above 0, got ${options.intervalMs}`)
    }
    this.#options = options
  }

  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    // An earlier poll may still be running, and waits for the next slot itself.
    if (this.#inFlight === undefined) this.#waitFor(this.#firstSlotFrom(this.#options.clock.now()))
  }

  /** Resolves when the running poll has ended. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.#cancelWait?.()
    this.#cancelWait = undefined
    await this.#inFlight
  }

  /** The watchdog looks at it; undefined while stopped. */
  get turn(): number | undefined {
    return this.#isRunning ? this.#polls : undefined
  }

  get stats(): PollerStats {
    return {
      polls: this.#polls,
      lateness: this.#lateness.summary(),
    }
  }

  #waitFor(slotAt: number): void {
    const delayMs = slotAt - this.#options.clock.now()
    this.#cancelWait = this.#options.timers.after(delayMs, () => this.#wake(slotAt))
  }

  #wake(slotAt: number): void {
    this.#cancelWait = undefined
    const now = this.#options.clock.now()
    if (now < slotAt) {
      // A timer may fire a millisecond early. After the clock was set back, the slot is far off:
      // take the nearest.
      this.#waitFor(Math.min(slotAt, this.#firstSlotFrom(now)))
      return
    }
    this.#inFlight = this.#pollSlot(slotAt, now)
  }

  async #pollSlot(slotAt: number, now: number): Promise<void> {
    const { intervalMs } = this.#options
    const dueAt = slotAt + Math.floor((now - slotAt) / intervalMs) * intervalMs
    this.#lateness.record(now - slotAt)
    this.#polls += 1
    try {
      await this.#options.poll(dueAt)
    } catch (error) {
      // A poll can throw at once, before `#inFlight` is set.
      await Promise.resolve()
      this.#options.onError(error)
    } finally {
      this.#inFlight = undefined
      if (this.#isRunning) this.#waitFor(this.#slotAfter(dueAt))
    }
  }

  #slotAfter(dueAt: number): number {
    // Slots come once more after the clock was set back.
    const next = this.#firstSlotFrom(this.#options.clock.now())
    return next === dueAt ? dueAt + this.#options.intervalMs : next
  }

  #firstSlotFrom(now: number): number {
    return Math.ceil(now / this.#options.intervalMs) * this.#options.intervalMs
  }
}

export interface PollersOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly onError: (what: string, reason: string) => void
}

export interface PollLoop {
  readonly name: string
  readonly intervalMs: number
  readonly turn: () => number | undefined
}

/** A loop hangs when its turn stays the same for too long. */
export interface WatchedLoop extends PollLoop {
  readonly isCalling: boolean
}

export class Pollers {
  readonly #options: PollersOptions
  readonly #pollers = new Map<string, { readonly intervalMs: number; readonly poller: Poller }>()

  constructor(options: PollersOptions) {
    this.#options = options
  }

  add(what: string, intervalMs: number, poll: () => unknown): Poller {
    const { clock, timers, onError } = this.#options
    const poller = new Poller({
      intervalMs,
      poll: async () => {
        await poll()
      },
      onError: (error) => onError(what, messageOf(error)),
      clock,
      timers,
    })
    this.#pollers.set(what, { intervalMs, poller })
    return poller
  }

  get loops(): readonly PollLoop[] {
    return [...this.#pollers].map(([name, { intervalMs, poller }]) => ({
      name,
      intervalMs,
      turn: () => poller.turn,
    }))
  }

  start(): void {
    for (const { poller } of this.#pollers.values()) poller.start()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pollers.values()].map(({ poller }) => poller.stop()))
  }
}
