import { TickerTable } from '../domain/ticker-table.ts'

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

  /**
   * The table to fill, the same one until it is published. It holds what an answer before the newest said: a reader
   * leaves its own answer in it or nothing, and the rows of the same instruments can stay where they are.
   */
  spare(): TickerTable {
    const [one, other] = this.#tables
    return one === this.#current ? other : one
  }

  /** The filled spare becomes the newest table. @throws RangeError for a table that is not the spare of this buffer. */
  publish(table: TickerTable): void {
    if (!this.#tables.includes(table) || table === this.#current) {
      throw new RangeError('only the spare table of these buffers can be published')
    }
    this.#current = table
  }
}
