import { type Clock, SteadyClock } from '../../lib/clock.ts'

export type AnswerOrigin = 'signed' | 'public'

export interface ClocksApart {
  readonly publicMs: number
  readonly signedMs: number
}

export interface ExchangeClockOptions {
  readonly onJump?: (jump: ClockJump) => void
  readonly onSettled?: (jump: ClockJump) => void
  readonly onApart?: (apart: ClocksApart | undefined) => void
}

const APART_MS = 2000

const ANSWERS_IN_ROW = 3

/**
 * Public answers may come from a cache, so only the time of signed answers signs orders
 * (docs/mechanisms.md, "Clocks").
 *
 *     nothing ──two public answers agree──► public: signs reads and cancel-alls
 *        └───────────┬─────────────────────────┘
 *              a signed answer ──► signed ──two of them agree──► synchronised: orders may be signed too
 */
export class ExchangeClock {
  readonly #signed: ClockOffset
  readonly #public: ClockOffset
  readonly #options: ExchangeClockOptions
  #wasSynchronised = false
  #contradictions = 0
  #apart: ClocksApart | undefined

  constructor(options: ExchangeClockOptions = {}) {
    const { onJump, onSettled } = options
    const whenItSigns = (of: 'signed' | 'public', then: typeof onJump) => (jump: ClockJump) => {
      if ((of === 'signed') === this.#signed.isMeasured) then?.(jump)
    }
    this.#options = options
    this.#signed = new ClockOffset({
      onJump: whenItSigns('signed', onJump),
      onSettled: whenItSigns('signed', onSettled),
    })
    this.#public = new ClockOffset({
      onJump: whenItSigns('public', onJump),
      onSettled: whenItSigns('public', onSettled),
    })
  }

  get isSynchronised(): boolean {
    return this.#signed.isSynchronised
  }

  get isMeasured(): boolean {
    return this.#wasSynchronised ? this.#signed.isSynchronised : this.#public.isSynchronised
  }

  get origin(): AnswerOrigin {
    return this.#signed.isMeasured ? 'signed' : 'public'
  }

  /** Exchange clock minus ours, whole ms. Zero until the first sample. */
  get offsetMs(): number {
    return (this.#signed.isMeasured ? this.#signed : this.#public).offsetMs
  }

  get apart(): ClocksApart | undefined {
    return this.#apart
  }

  exchangeNow(now: number): number {
    return now + this.offsetMs
  }

  publicNow(now: number): number {
    return now + (this.#public.isMeasured ? this.#public.offsetMs : this.offsetMs)
  }

  fromPublic(requestTime: number): number {
    const isKnown = this.#apart !== undefined && this.#public.isSynchronised
    return isKnown ? requestTime - this.#public.offsetMs + this.#signed.offsetMs : requestTime
  }

  /** Our clock may have moved, so two fresh samples must agree. */
  loseSynchronisation(now: number): void {
    this.#signed.loseSynchronisation(now)
    this.#public.loseSynchronisation(now)
  }

  followOurClock(forwardMs: number): void {
    this.#signed.followOurClock(forwardMs)
    this.#public.followOurClock(forwardMs)
  }

  observe(sample: ClockSample, origin: AnswerOrigin): void {
    if (origin === 'signed') {
      this.#signed.observe(sample)
      this.#wasSynchronised ||= this.#signed.isSynchronised
      return
    }
    this.#public.observe(sample)
    this.#compare(sample)
  }

  #compare(sample: ClockSample): void {
    if (!this.#signed.isSynchronised) return
    const isApart = this.#signed.contradicts(sample, APART_MS)
    const { requestTime, receivedAt } = sample
    const apart = isApart
      ? { publicMs: requestTime - receivedAt, signedMs: this.#signed.offsetMs }
      : undefined
    this.#contradictions = isApart === (this.#apart !== undefined) ? 0 : this.#contradictions + 1
    if (this.#contradictions > 0 && this.#contradictions < ANSWERS_IN_ROW) return
    const isNews = this.#contradictions > 0
    this.#contradictions = 0
    this.#apart = apart
    if (isNews) this.#options.onApart?.(apart)
  }
}

export interface ClockSample {
  readonly requestTime: number
  readonly sentAt: number
  readonly receivedAt: number
}

export interface ClockJump {
  /** Positive if the exchange's clock is now further ahead. */
  readonly movedMs: number
  readonly offsetMs: number
}

export interface ClockOffsetOptions {
  readonly onJump?: (jump: ClockJump) => void
  readonly onSettled?: (jump: ClockJump) => void
}

const SAMPLES_MAX = 64

/** Both clocks count whole ms. */
const ROUNDING_MS = 1

/** No delay explains a sample so far from the estimate: a clock was set. */
const STEP_MS = 250

const JUMP_MS = 2000

interface Bounds {
  readonly low: number
  readonly high: number
}

/**
 * The sample with the shortest round trip is the estimate. A contradicting sample counts only once
 * a second one agrees with it, because one wrong `requestTime` must not spoil every signature.
 */
export class ClockOffset {
  readonly #onJump: ((jump: ClockJump) => void) | undefined
  readonly #onSettled: ((jump: ClockJump) => void) | undefined
  #samples: Bounds[] = []
  #next = 0
  #best: Bounds | undefined
  #bestPlace = 0
  #suspect: Bounds | undefined
  #unsynchronisedAt: number | undefined

  constructor({ onJump, onSettled }: ClockOffsetOptions = {}) {
    this.#onJump = onJump
    this.#onSettled = onSettled
  }

  get isSynchronised(): boolean {
    return (
      this.#samples.length > 1 &&
      this.#unsynchronisedAt === undefined &&
      this.#suspect === undefined
    )
  }

  get isMeasured(): boolean {
    return this.#best !== undefined
  }

  get offsetMs(): number {
    return this.#best === undefined ? 0 : Math.round((this.#best.low + this.#best.high) / 2)
  }

  exchangeNow(now: number): number {
    return now + this.offsetMs
  }

  loseSynchronisation(now: number): void {
    if (this.#best === undefined) return
    this.#unsynchronisedAt = now
    this.#suspect = undefined
  }

  followOurClock(forwardMs: number): void {
    const shift = ({ low, high }: Bounds): Bounds => ({
      low: low - forwardMs,
      high: high - forwardMs,
    })
    this.#samples = this.#samples.map(shift)
    this.#best = this.#best && shift(this.#best)
    this.#suspect = this.#suspect && shift(this.#suspect)
  }

  contradicts(sample: ClockSample, byMs: number): boolean {
    return this.#best !== undefined && gapBetween(boundsOf(sample), this.#best) > byMs
  }

  observe(sample: ClockSample): void {
    const bounds = boundsOf(sample)
    if (!Number.isFinite(bounds.low) || !Number.isFinite(bounds.high) || bounds.low > bounds.high)
      return
    if (this.#unsynchronisedAt !== undefined && sample.sentAt < this.#unsynchronisedAt) return
    const isOdd = this.#best !== undefined && gapBetween(bounds, this.#best) > STEP_MS
    if (isOdd || this.#unsynchronisedAt !== undefined) {
      this.#hold(bounds)
      return
    }
    this.#suspect = undefined
    this.#remember(bounds)
  }

  #hold(bounds: Bounds): void {
    const suspect = this.#suspect
    this.#suspect = bounds
    if (suspect === undefined || gapBetween(bounds, suspect) > STEP_MS) return
    const before = this.offsetMs
    const wasUnsynchronised = this.#unsynchronisedAt !== undefined
    this.#unsynchronisedAt = undefined
    this.#samples = []
    this.#next = 0
    this.#suspect = undefined
    this.#remember(suspect)
    this.#remember(bounds)
    const movedMs = this.offsetMs - before
    if (Math.abs(movedMs) > JUMP_MS) this.#onJump?.({ movedMs, offsetMs: this.offsetMs })
    if (wasUnsynchronised) this.#onSettled?.({ movedMs, offsetMs: this.offsetMs })
  }

  #remember(bounds: Bounds): void {
    const place = this.#next
    this.#samples[place] = bounds
    this.#next = (place + 1) % SAMPLES_MAX
    if (place === this.#bestPlace || this.#samples.length === 1) return this.#findBest()
    const wider = width(bounds) - width(this.#best ?? bounds)
    if (wider < 0 || (wider === 0 && place < this.#bestPlace)) this.#take(bounds, place)
  }

  #findBest(): void {
    let best: Bounds | undefined
    let bestPlace = 0
    let place = 0
    for (const bounds of this.#samples) {
      if (best === undefined || width(bounds) < width(best)) {
        best = bounds
        bestPlace = place
      }
      place += 1
    }
    if (best !== undefined) this.#take(best, bestPlace)
  }

  #take(best: Bounds, place: number): void {
    this.#best = best
    this.#bestPlace = place
  }
}

function boundsOf({ requestTime, sentAt, receivedAt }: ClockSample): Bounds {
  return { low: requestTime - receivedAt - ROUNDING_MS, high: requestTime - sentAt + ROUNDING_MS }
}

const width = ({ low, high }: Bounds): number => high - low

function gapBetween(one: Bounds, other: Bounds): number {
  return Math.max(0, one.low - other.high, other.low - one.high)
}

/**
 * `stepped`: the machine's clock was set, and the steady one did not follow. `slept`: the machine
 * slept, and the steady clock caught up.
 */
export type ClockVerdict = 'stepped' | 'slept'

export interface TrustedClockListener {
  readonly onUnsynchronised: (movedMs: number) => void
  /** Answers agree again; `movedMs`: how far the clock was set, or how long the machine slept. */
  readonly onSettled: (verdict: ClockVerdict, jump: ClockJump) => void
  readonly onJump: (jump: ClockJump) => void
  readonly onApart: (apart: ClocksApart | undefined) => void
}

/** A step and a sleep can be told apart with this precision. */
const AGREES_MS = 250

/**
 * Says whether our clock and the exchange's can be trusted.
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
