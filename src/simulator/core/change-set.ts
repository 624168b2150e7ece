import { type StoredRow, type StoredTable } from './store.ts'

/**
 * Which rows an operation changed. They are written out once, when the operation is over; without a store
 * nothing is kept. Bounded by what one operation can touch.
 */
export class ChangeSet {
  readonly isEnabled: boolean
  /** By table and id, how to write the row when the time comes; undefined when the row is gone. */
  readonly #rows = new Map<string, Change>()

  constructor(isEnabled: boolean) {
    this.isEnabled = isEnabled
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0
  }

  /** @param write gives the row as it is when the operation is over. */
  put(table: StoredTable, id: string, write: () => unknown): void {
    this.#rows.set(`${table} ${id}`, { table, id, write: () => JSON.stringify(write()) })
  }

  /** @param json of a row that its owner has written out already. */
  putJson(table: StoredTable, id: string, json: string): void {
    this.#rows.set(`${table} ${id}`, { table, id, write: () => json })
  }

  drop(table: StoredTable, id: string): void {
    this.#rows.set(`${table} ${id}`, { table, id, write: undefined })
  }

  /** The changed rows as they are now; the set is empty afterwards. */
  drain(): StoredRow[] {
    const rows: StoredRow[] = []
    for (const { table, id, write } of this.#rows.values()) {
      rows.push({ table, id, json: write?.() })
    }
    this.#rows.clear()
    return rows
  }
}

interface Change {
  readonly table: StoredTable
  readonly id: string
  readonly write: (() => string) | undefined
}
