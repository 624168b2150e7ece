import { randomHex } from '../../lib/entropy.ts'
import type { AskedOrder } from './questions.ts'

const VALID_MS = 60_000
const PENDING_MAX = 20
const ID_BYTES = 8

interface PendingOrder {
  readonly order: AskedOrder
  readonly person: number
  /** Monotonic ms. */
  readonly until: number
}

/** Each order can be confirmed once, by the same person, within a minute. */
export class PendingOrders {
  readonly #monotonic: () => number
  readonly #pending = new Map<string, PendingOrder>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  add(order: AskedOrder, person: number): string {
    const id = randomHex(ID_BYTES)
    this.#pending.set(id, { order, person, until: this.#monotonic() + VALID_MS })
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= PENDING_MAX) break
      this.#pending.delete(oldest)
    }
    return id
  }

  /** Undefined: of another person, confirmed already, or too late. */
  take(id: string, person: number): AskedOrder | undefined {
    const found = this.#pending.get(id)
    if (found?.person !== person) return undefined
    this.#pending.delete(id)
    return this.#monotonic() < found.until ? found.order : undefined
  }
}
