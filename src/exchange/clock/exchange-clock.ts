import { type ClockJump, ClockOffset, type ClockSample } from './clock-offset.ts'

/** Where an answer comes from: a call that was signed, or one that anybody may make and anything on the way may answer. */
export type AnswerOrigin = 'signed' | 'public'

/** How far each clock is ahead of ours, ms. */
export interface ClocksApart {
  readonly publicMs: number
  readonly signedMs: number
}

export interface ExchangeClockOptions {
  /** The offset that signs moved by more than two seconds: one of the two clocks was set. */
  readonly onJump?: (jump: ClockJump) => void
  /** The offset that signs is synchronised again, however far it moved. */
  readonly onSettled?: (jump: ClockJump) => void
  /** Public answers contradict the signed ones from now on; undefined: they agree again. */
  readonly onApart?: (apart: ClocksApart | undefined) => void
}

/** A public answer this far from the signed ones, in ms, contradicts them: more than a slow way explains. */
const APART_MS = 2000

/** So many public answers in a row must contradict the signed ones, or agree with them, before that is said. */
const ANSWERS_IN_ROW = 3

/**
 * The exchange's clock, as two kinds of answers tell it. Signed answers come from the servers that check our signatures,
 * so their time signs. Public ones may come from a cache or another machine: their time signs only until the first signed
 * answer, and then only what places no order.
 *
 *     nothing ──two public answers agree──► public: signs reads and cancel-alls
 *        └───────────┬─────────────────────────┘
 *              a signed answer ──► signed ──two of them agree──► synchronised: orders may be signed too
 */
export class ExchangeClock {
  readonly #signed: ClockOffset
  readonly #public: ClockOffset
  readonly #options: ExchangeClockOptions
  /** Two signed answers have agreed once: from then on only signed ones tell the time. */
  #wasSynchronised = false
  /** How many public answers in a row said the opposite of {@link apart}. */
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

  /** Whether orders may be signed: two signed answers agree, and none contradicts them. */
  get isSynchronised(): boolean {
    return this.#signed.isSynchronised
  }

  /** Whether the time is known well enough for reads and cancel-alls. */
  get isMeasured(): boolean {
    return this.#wasSynchronised ? this.#signed.isSynchronised : this.#public.isSynchronised
  }

  /** Which answers the time comes from. */
  get origin(): AnswerOrigin {
    return this.#signed.isMeasured ? 'signed' : 'public'
  }

  /** Exchange clock less our clock, whole ms. Zero until the first sample. */
  get offsetMs(): number {
    return (this.#signed.isMeasured ? this.#signed : this.#public).offsetMs
  }

  /** Both clocks while public answers contradict the signed ones; undefined while they agree. */
  get apart(): ClocksApart | undefined {
    return this.#apart
  }

  /** Unix ms of the exchange's clock when ours says `now`. */
  exchangeNow(now: number): number {
    return now + this.offsetMs
  }

  /** What public answers say instead, by which a public answer is to be judged. */
  publicNow(now: number): number {
    return now + (this.#public.isMeasured ? this.#public.offsetMs : this.offsetMs)
  }

  /** The time of a public answer on the clock that signs. */
  fromPublic(requestTime: number): number {
    const isKnown = this.#apart !== undefined && this.#public.isSynchronised
    return isKnown ? requestTime - this.#public.offsetMs + this.#signed.offsetMs : requestTime
  }

  /** Our own clock may have moved at `now` (Unix ms): only two fresh samples that agree are believed again. */
  loseSynchronisation(now: number): void {
    this.#signed.loseSynchronisation(now)
    this.#public.loseSynchronisation(now)
  }

  /** Our own clock was put forward by so many ms: everything measured with it moves along. */
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

  /** While the clock that signs is not known for certain, nothing is said. */
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
