import { type StoredRow, type StoredTable } from './row-store.ts'

/**
 * Which rows an operation changed. They are written out once, when the operation is over; without a store
 * nothing is kept. Bounded by what one operation can touch.
 */
export class ChangeSet {
  readonly isEnabled: boolean
  /** By table and id. A row writes itself when its `json` is read, and is the more costly for it. */
  readonly #rows = new Map<string, StoredRow>()

  constructor(isEnabled: boolean) {
    this.isEnabled = isEnabled
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0
  }

  /** @param write gives the row as it is when the operation is over. */
  put(table: StoredTable, id: string, write: () => unknown): void {
    this.#rows.set(`${table} ${id}`, {
      table,
      id,
      get json() {
        return JSON.stringify(write())
      },
      get entity() {
        return write()
      },
    })
  }

  /** @param json of a row that its owner has written out already. */
  putJson(table: StoredTable, id: string, json: string): void {
    this.#rows.set(`${table} ${id}`, { table, id, json })
  }

  drop(table: StoredTable, id: string): void {
    this.#rows.set(`${table} ${id}`, { table, id, json: undefined })
  }

  /** The changed rows, to be read before anything changes again; the set is empty afterwards. */
  drain(): StoredRow[] {
    const rows = [...this.#rows.values()]
    this.#rows.clear()
    return rows
  }
}
