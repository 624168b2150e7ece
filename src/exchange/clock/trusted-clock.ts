import { type Clock, SteadyClock } from '../../lib/clock.ts'
import { type ClockJump, type ClocksApart, ExchangeClock } from './exchange-clock.ts'

/**
 * `stepped`: the machine's clock was set, and this one did not follow. `slept`: the machine slept,
 * and this one caught up.
 */
export type ClockVerdict = 'stepped' | 'slept'

export interface TrustedClockListener {
  readonly onUnsynchronised: (movedMs: number) => void
  /** Answers agree again; `movedMs`: how far the clock was set, or how long the machine slept. */
  readonly onSettled: (verdict: ClockVerdict, jump: ClockJump) => void
  readonly onJump: (jump: ClockJump) => void
  readonly onApart: (apart: ClocksApart | undefined) => void
}

/** Precision with which a step and a sleep can be told apart. */
const AGREES_MS = 250

/**
 * Our clock and the exchange's, and whether they can be trusted.
 *
 *     synchronised ──the machine's clock moved against the monotonic one──► unsynchronised
 *       ▲                                                                      │
 *       └── two fresh answers of the exchange agree: the offset is as it was (stepped), or it grew
 *           with the machine's clock (slept: ours is put forward) ─────────────┘
 */
export class TrustedClock {
  readonly clock: SteadyClock
  readonly offset: ExchangeClock
  readonly #source: Clock
  #listener: TrustedClockListener | undefined
  #movedMs = 0

  constructor(source: Clock) {
    this.#source = source
    this.clock = new SteadyClock(source)
    this.offset = new ExchangeClock({
      onJump: (jump) => this.#listener?.onJump(jump),
      onSettled: (jump) => this.#settle(jump),
      onApart: (apart) => this.#listener?.onApart(apart),
    })
    this.clock.onStep = (movedMs) => this.#loseSynchronisation(movedMs)
  }

  get isSynchronised(): boolean {
    this.clock.now()
    return this.offset.isSynchronised
  }

  get isMeasured(): boolean {
    this.clock.now()
    return this.offset.isMeasured
  }

  get aheadOfMachineMs(): number {
    return this.offset.exchangeNow(this.clock.now()) - this.#source.now()
  }

  listen(listener: TrustedClockListener): void {
    this.#listener = listener
  }

  #loseSynchronisation(movedMs: number): void {
    this.#movedMs += movedMs
    this.offset.loseSynchronisation(this.clock.now())
    this.#listener?.onUnsynchronised(movedMs)
  }

  #settle(jump: ClockJump): void {
    const machineMovedMs = this.#movedMs
    const sleptMs = Math.min(machineMovedMs, jump.movedMs)
    this.#movedMs = 0
    const hasSlept = sleptMs > AGREES_MS
    if (hasSlept) {
      this.clock.advance(jump.movedMs)
      this.offset.followOurClock(jump.movedMs)
    }
    this.#listener?.onSettled(
      hasSlept ? 'slept' : 'stepped',
      hasSlept ? jump : { ...jump, movedMs: machineMovedMs },
    )
  }
}
