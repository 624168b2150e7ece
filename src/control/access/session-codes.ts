import { randomHex } from '../../lib/entropy.ts'

const CODE_BYTES = 16
const VALID_MS = 60_000
/** A further code removes the oldest. */
const CODES_MAX = 8

/**
 * A code stands in the dashboard's address in place of the token, and is valid once, so that an
 * address in a browser's history opens nothing.
 */
export class SessionCodes {
  readonly #monotonic: () => number
  /** Expiry, monotonic ms. */
  readonly #validUntil = new Map<string, number>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  issue(): string {
    const code = randomHex(CODE_BYTES)
    this.#validUntil.set(code, this.#monotonic() + VALID_MS)
    for (const oldest of this.#validUntil.keys()) {
      if (this.#validUntil.size <= CODES_MAX) break
      this.#validUntil.delete(oldest)
    }
    return code
  }

  redeem(code: string): boolean {
    const until = this.#validUntil.get(code)
    this.#validUntil.delete(code)
    return until !== undefined && this.#monotonic() < until
  }
}
