import { type JournalRecord, keysUsedBy, type StrategyKey, type UsedKey } from '../domain/record.ts'

/** Used keys in memory: those of a journal that ends with its process, or of records behind a checkpoint. */
export class MemoryKeys {
  readonly #keys = new Map<string, UsedKey>()

  add(record: JournalRecord): void {
    for (const used of keysUsedBy(record)) this.put(used)
  }

  /** The first use counts. */
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

/** No two keys have one name: neither a purpose nor a strategy's id holds a bar. */
export function nameOf({ purpose, strategyId, key }: StrategyKey): string {
  return `${purpose}|${strategyId}|${key}`
}
