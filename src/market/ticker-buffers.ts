import { TickerTable } from '../domain/ticker-table.ts'

/**
 * The two ticker tables of one product type, used in turn: a reader fills the spare one with an answer and publishes
 * it. So the newest table is never overwritten.
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
   * The table to fill: the same one until it is published. It still holds an older answer, so that rows of the same
   * instruments can stay in place; a reader must leave either its own answer in it or nothing.
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
