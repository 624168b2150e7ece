import type { SignalGateOptions, SignalOutcome } from '../../control/signals/signal-gate.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'

/** A signal after a pause as long is taken at once. */
const PAUSE_MS = 1000
/** Commits of signals, some milliseconds each, may take so long between two readings of prices. */
const COMMITS_MS = 20
const NO_PRICES_MS = 1000
/** Senders of chart alerts give up after three seconds. */
const PATIENCE_MS = 2500
const WAITING_MAX = 64

export interface SignalQueueOptions {
  readonly take: SignalGateOptions['take']
  readonly tickersMs: number
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Timers
}

interface WaitingSignal {
  readonly signal: Signal
  readonly since: number
  readonly settle: (outcome: SignalOutcome | Promise<SignalOutcome>) => void
}

/**
 * The trading thread writes each signal to the disk. So if many come at once, all but the first
 * wait for the middle between two readings of prices, when no order is about to leave. The sender
 * of one that waits too long is told that it was not taken.
 */
export class SignalQueue {
  readonly #options: SignalQueueOptions
  readonly #waiting: WaitingSignal[] = []
  #takenAt = Number.NEGATIVE_INFINITY
  #cancel: (() => void) | undefined
  #isBetweenPrices = false

  constructor(options: SignalQueueOptions) {
    this.#options = options
  }

  take(signal: Signal): Promise<SignalOutcome> {
    const since = this.#options.clock.monotonic()
    if (this.#waiting.length === 0 && since - this.#takenAt >= PAUSE_MS) return this.#hand(signal)
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve(undefined)
    return new Promise((settle) => {
      this.#waiting.push({ signal, since, settle })
      if (this.#cancel === undefined) this.#plan(NO_PRICES_MS)
    })
  }

  hearPrices(): void {
    if (this.#waiting.length === 0 || this.#isBetweenPrices) return
    this.#isBetweenPrices = true
    this.#plan(this.#options.tickersMs / 2)
  }

  /** Signals that wait are not taken. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const { settle } of this.#waiting.splice(0)) settle(undefined)
  }

  #plan(afterMs: number): void {
    this.#cancel?.()
    this.#cancel = this.#options.timers.after(afterMs, () => this.#handSome())
  }

  #handSome(): void {
    const { clock } = this.#options
    this.#cancel = undefined
    this.#isBetweenPrices = false
    const beganAt = clock.monotonic()
    do {
      const next = this.#waiting.shift()
      if (next === undefined) return
      const isLate = clock.monotonic() - next.since > PATIENCE_MS
      next.settle(isLate ? undefined : this.#hand(next.signal))
    } while (clock.monotonic() - beganAt < COMMITS_MS)
    if (this.#waiting.length > 0) this.#plan(NO_PRICES_MS)
  }

  #hand(signal: Signal): Promise<SignalOutcome> {
    const outcome = this.#options.take(signal)
    this.#takenAt = this.#options.clock.monotonic()
    return outcome
  }
}
