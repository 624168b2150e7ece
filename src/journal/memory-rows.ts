import { type BookRow, type RowChange } from './journal.ts'

/** The rows of a checkpoint in memory, for journals that end with their process. */
export class MemoryRows {
  readonly #values = new Map<string, Map<string, string>>()

  constructor(rows: Iterable<RowChange> = []) {
    this.apply(rows)
  }

  apply(changes: Iterable<RowChange>): void {
    for (const { name, key, value } of changes) {
      const values = this.#values.get(name) ?? new Map<string, string>()
      this.#values.set(name, values)
      if (value === undefined) values.delete(key)
      else values.set(key, value)
    }
  }

  list(): readonly BookRow[] {
    return [...this.#values].flatMap(([name, values]) =>
      Array.from(values, ([key, value]) => ({ name, key, value })),
    )
  }
}
