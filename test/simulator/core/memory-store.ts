import { type RowStore, type StoredRow } from '../../../src/simulator/store/row-store.ts'

/** Keeps what was saved as long as the object lives. */
export function createMemoryStore(): RowStore {
  const rows = new Map<string, StoredRow>()
  return {
    load: () => (rows.size === 0 ? undefined : [...rows.values()]),
    save(changes) {
      for (const row of changes) {
        const key = `${row.table} ${row.id}`
        if (row.json === undefined) rows.delete(key)
        else rows.set(key, { ...row })
      }
    },
  }
}
