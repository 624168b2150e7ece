import {
  type JournalRecord,
  keysUsedBy,
  type StrategyKey,
  type UsedKey,
} from '../../domain/record.ts'
import type { BookRow, RowChange } from '../journal.ts'

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

/** Used keys in memory: those of a journal that ends with its process, or of records after a checkpoint. */
export class MemoryKeys {
  readonly #keys = new Map<string, UsedKey>()

  add(record: JournalRecord): void {
    for (const used of keysUsedBy(record)) this.put(used)
  }

  /** Adds a key; the first use of it counts. */
  put(used: UsedKey): void {
    const name = nameOf(used)
    if (!this.#keys.has(name)) this.#keys.set(name, used)
  }

  find(key: StrategyKey): UsedKey | undefined {
    return this.#keys.get(nameOf(key))
  }

  values(): Iterable<UsedKey> {
    return this.#keys.values()
  }

  clear(): void {
    this.#keys.clear()
  }
}

/** Unique for each key: neither a purpose nor a strategy's id contains a bar. */
export function nameOf({ purpose, strategyId, key }: StrategyKey): string {
  return `${purpose}|${strategyId}|${key}`
}
