import { TICKER_COLUMNS, TickerTable } from '../domain/ticker-table.ts'

/** One to look at, one to fill, and one more for a reader that is still busy with the moment before. */
const TABLES_MAX = 3

/** The right to look at a table; while any is out, the table is not filled. */
export interface TickerLease {
  readonly tickers: TickerTable
  /** The reader is done. Further calls do nothing. */
  giveBack(): void
}

/**
 * The ticker tables of one product type: whoever reads an answer fills the spare one and publishes it; a table
 * that somebody looks at, or that is the newest, is never the one that is filled.
 *
 *     spare -- publish() --> current -- publish() of another --> spare, once no lease is out
 */
export class TickerBuffers {
  readonly #tables: TickerTable[] = []
  readonly #leases = new Map<TickerTable, number>()
  #current: TickerTable | undefined

  /** The newest published table; undefined before the first. */
  get current(): TickerTable | undefined {
    return this.#current
  }

  /**
   * An empty table to fill; the same one until it is published, so that a read that failed half way leaves
   * nothing behind. Undefined while readers hold every other table: this answer has to be dropped.
   */
  spare(): TickerTable | undefined {
    const table = this.#tables.find((candidate) => this.#isFree(candidate)) ?? this.#addTable()
    if (table !== undefined) empty(table)
    return table
  }

  /** The filled spare becomes the newest table. @throws RangeError for a table that is not a spare of this buffer. */
  publish(table: TickerTable): void {
    if (!this.#tables.includes(table) || !this.#isFree(table)) {
      throw new RangeError('only a spare table of these buffers can be published')
    }
    this.#current = table
  }

  /** Keeps the newest table as it is until the lease is given back; undefined before the first. */
  lend(): TickerLease | undefined {
    const tickers = this.#current
    if (tickers === undefined) return undefined
    this.#leases.set(tickers, (this.#leases.get(tickers) ?? 0) + 1)
    let isOut = true
    return {
      tickers,
      giveBack: () => {
        if (isOut) this.#leases.set(tickers, (this.#leases.get(tickers) ?? 0) - 1)
        isOut = false
      },
    }
  }

  #isFree(table: TickerTable): boolean {
    return table !== this.#current && (this.#leases.get(table) ?? 0) === 0
  }

  #addTable(): TickerTable | undefined {
    if (this.#tables.length >= TABLES_MAX) return undefined
    const table = new TickerTable()
    this.#tables.push(table)
    return table
  }
}

/** No row, and no value of an earlier answer under a row that is claimed afresh. */
function empty(table: TickerTable): void {
  for (const column of TICKER_COLUMNS) table.columns[column].fill(Number.NaN, 0, table.symbols.length)
  table.clear()
  table.readAt = 0
  table.requestTime = 0
}
