import { createTaken, type Taken } from '../matching/displayed-market.ts'
import { type Codec, type StoredRows } from '../store/stored-rows.ts'

interface PairRow {
  readonly id: string
  readonly taken: Taken
}

const PAIRS_TAKEN: Codec<PairRow> = { table: 'pairs_taken', id: ({ id }) => id }

/**
 * What orders took of each pair. Spot and margin of a pair share one order book: what one has taken is not there for the
 * other, and both together have one share of a candle. Bounded by the listed pairs.
 */
export class PairsTaken {
  readonly #rows: StoredRows
  readonly #byId = new Map<string, PairRow>()

  constructor(rows: StoredRows) {
    this.#rows = rows
  }

  /** Of the pairs with such lots, so that the counts are of one unit. */
  of(symbol: string, sizeDecimals: number): Taken {
    return this.#row(symbol, sizeDecimals).taken
  }

  put(symbol: string, sizeDecimals: number): void {
    this.#rows.put(PAIRS_TAKEN, this.#row(symbol, sizeDecimals))
  }

  /** Nothing is taken any more. */
  clear(symbol: string, sizeDecimals: number): void {
    const row = this.#row(symbol, sizeDecimals)
    Object.assign(row.taken, createTaken())
    this.#rows.drop(PAIRS_TAKEN, row)
  }

  #row(symbol: string, sizeDecimals: number): PairRow {
    const id = `${symbol}/${sizeDecimals}`
    const found = this.#byId.get(id)
    if (found !== undefined) return found
    const row = this.#rows.readOne(PAIRS_TAKEN, id) ?? { id, taken: createTaken() }
    this.#byId.set(id, row)
    return row
  }
}
