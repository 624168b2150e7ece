import { createRandom, type Random } from '../../src/lib/random.ts'

/** What can go wrong with one call, as a probability each. */
export interface FaultRates {
  /** Not a byte leaves: the connection is refused. */
  readonly refusedConnection: number
  /** The request never arrives; or arrives late, up to and beyond the exchange's tolerance. */
  readonly requestLost: number
  readonly requestLate: number
  /** The exchange did it, and the answer never comes, or comes after the wait was given up. */
  readonly answerLost: number
  readonly answerLate: number
  /** The same answer comes twice. */
  readonly answerTwice: number
  /** 5xx before or after the exchange did it; 429 before, and after. */
  readonly serverErrorBefore: number
  readonly serverErrorAfter: number
  readonly rateLimited: number
  readonly rateLimitedAfter: number
  /** Of each item of a batch: refused, left out of both lists, in both, accepted without an orderId. */
  readonly itemRejected: number
  readonly itemMissing: number
  readonly itemTwice: number
  readonly orderIdMissing: number
  /** Of each order of a cancel-all. */
  readonly cancelFailed: number
}

export const NO_FAULTS: FaultRates = {
  refusedConnection: 0,
  requestLost: 0,
  requestLate: 0,
  answerLost: 0,
  answerLate: 0,
  answerTwice: 0,
  serverErrorBefore: 0,
  serverErrorAfter: 0,
  rateLimited: 0,
  rateLimitedAfter: 0,
  itemRejected: 0,
  itemMissing: 0,
  itemTwice: 0,
  orderIdMissing: 0,
  cancelFailed: 0,
}

/**
 * Draws faults. Every kind at every site has a stream of its own that depends on the seed alone, so taking
 * one fault away leaves the others as they were.
 */
export class VirtualFaults {
  readonly #root: Random
  readonly #streams = new Map<string, Random>()
  readonly #rates: FaultRates
  /** How often each fault happened. */
  readonly counts = new Map<keyof FaultRates, number>()
  /** False: nothing goes wrong any more. */
  isOn = true

  constructor(seed: string, rates: FaultRates) {
    this.#root = createRandom(seed)
    this.#rates = rates
  }

  strikes(fault: keyof FaultRates, site: string): boolean {
    const rate = this.#rates[fault]
    if (rate === 0) return false
    const strikes = this.#stream(`${site}/${fault}`).next() < rate && this.isOn
    if (strikes) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    return strikes
  }

  /** Whole ms in [from, to). */
  delayMs(site: string, from: number, to: number): number {
    return from + this.#stream(site).integer(Math.max(1, to - from))
  }

  #stream(name: string): Random {
    const known = this.#streams.get(name)
    if (known) return known
    const stream = this.#root.fork(name)
    this.#streams.set(name, stream)
    return stream
  }
}
