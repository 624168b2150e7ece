import type { SignalOutcome } from '../../control/signals/signal-gate.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Announcement } from '../../engine/effect.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Timers } from '../../lib/timers.ts'

/** After this time the sender sends the signal again. */
const PATIENCE_MS = 5000

/**
 * Tells what became of each signal once that is durable: the core announces one of three lines for
 * each, in order, after the records before it.
 */
export class SignalInbox {
  readonly #dispatch: (event: EngineEvent) => void
  readonly #timers: Timers
  readonly #waiting: ((outcome: SignalOutcome) => void)[] = []

  constructor(dispatch: (event: EngineEvent) => void, timers: Timers) {
    this.#dispatch = dispatch
    this.#timers = timers
  }

  take(signal: Signal): Promise<SignalOutcome> {
    const { promise, resolve } = Promise.withResolvers<SignalOutcome>()
    const cancel = this.#timers.after(PATIENCE_MS, () => resolve(undefined))
    this.#waiting.push((outcome) => {
      cancel()
      resolve(outcome)
    })
    this.#dispatch({ kind: 'signalTaken', ...signal })
    return promise
  }

  hear({ event }: Announcement): void {
    if (event === 'signal.taken') this.#waiting.shift()?.('taken')
    if (event === 'signal.repeated') this.#waiting.shift()?.('repeated')
    if (event === 'signal.outdated') this.#waiting.shift()?.('outdated')
  }

  /** Signals that wait were not taken. */
  close(): void {
    for (const end of this.#waiting.splice(0)) end(undefined)
  }
}
