import { TICKER_COLUMNS, TickerTable } from '../domain/ticker-table.ts'

/**
 * The ticker tables of one product type, two in turn: whoever reads an answer fills the spare one and publishes it;
 * the newest is never the one that is filled.
 *
 *     spare ──publish()──► current ──publish() of the other──► spare
 */
export class TickerBuffers {
  readonly #tables = [new TickerTable(), new TickerTable()] as const
  #current: TickerTable | undefined

  /** The newest published table; undefined before the first. */
  get current(): TickerTable | undefined {
    return this.#current
  }

  /** An empty table to fill; the same one until it is published, so that a read that failed half way leaves nothing. */
  spare(): TickerTable {
    const [one, other] = this.#tables
    const table = one === this.#current ? other : one
    empty(table)
    return table
  }

  /** The filled spare becomes the newest table. @throws RangeError for a table that is not the spare of this buffer. */
  publish(table: TickerTable): void {
    if (!this.#tables.includes(table) || table === this.#current) {
      throw new RangeError('only the spare table of these buffers can be published')
    }
    this.#current = table
  }
}

/** No row, and no value of an earlier answer under a row that is claimed afresh. */
function empty(table: TickerTable): void {
  for (const column of TICKER_COLUMNS) table.columns[column].fill(Number.NaN, 0, table.symbols.length)
  table.clear()
  table.readAt = 0
  table.requestTime = 0
}
