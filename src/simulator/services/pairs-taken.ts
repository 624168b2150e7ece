import { createTaken, type TakenLots } from '../matching/displayed-market.ts'
import type { Codec, StoredRows } from '../store/stored-rows.ts'

export interface PairTaken {
  readonly id: string
  readonly taken: TakenLots
}

const PAIRS_TAKEN: Codec<PairTaken> = {
  table: 'pairs_taken',
  id: ({ id }) => id,
  isGone: ({ taken }) => taken.at === 0,
}

/** Keeps what orders took on each pair, because spot and margin share one order book. */
export class PairsTaken {
  readonly #rows: StoredRows
  readonly #byId = new Map<string, PairTaken>()

  constructor(rows: StoredRows) {
    this.#rows = rows
  }

  /** The key includes the lot size, so that all counts have the same unit. */
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
