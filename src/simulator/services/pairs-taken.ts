import { createTaken, type Taken } from '../matching/displayed-market.ts'
import type { Codec, StoredRows } from '../store/stored-rows.ts'

/** What orders took of a pair. */
export interface PairTaken {
  readonly id: string
  readonly taken: Taken
}

const PAIRS_TAKEN: Codec<PairTaken> = {
  table: 'pairs_taken',
  id: ({ id }) => id,
  isGone: ({ taken }) => taken.at === 0,
}

/**
 * What orders took of each pair. Spot and margin of a pair share one order book: what one has taken is not there for the
 * other, and both together have one share of a candle. Bounded by the listed pairs.
 */
export class PairsTaken {
  readonly #rows: StoredRows
  readonly #byId = new Map<string, PairTaken>()

  constructor(rows: StoredRows) {
    this.#rows = rows
  }

  /** Of the pairs with such lots, so that the counts are of one unit. */
  of({
    symbol,
    sizeDecimals,
  }: {
    readonly symbol: string
    readonly sizeDecimals: number
  }): PairTaken {
    const id = `${symbol}/${sizeDecimals}`
    const found = this.#byId.get(id) ??
      this.#rows.readOne(PAIRS_TAKEN, id) ?? { id, taken: createTaken() }
    this.#byId.set(id, found)
    return found
  }

  put(pair: PairTaken): void {
    this.#rows.put(PAIRS_TAKEN, pair)
  }
}
