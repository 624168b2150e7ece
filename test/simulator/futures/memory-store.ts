import {
  type RowStore,
  type StoredRow,
  StoredRows,
} from '../../../src/simulator/store/stored-rows.ts'

/** Keeps what was saved as long as the object lives. */
export function createMemoryStore(saved: readonly StoredRow[] = []): RowStore {
  const rows = new Map<string, StoredRow>()
  const save = (changes: readonly StoredRow[]) => {
    for (const { table, id, json } of changes) {
      if (json === undefined) rows.delete(`${table} ${id}`)
      else rows.set(`${table} ${id}`, { table, id, json })
    }
  }
  save(saved)
  return { load: () => (rows.size === 0 ? undefined : [...rows.values()]), save }
}

/** The rows of one store over restarts: each call saves what was changed, and opens them anew. */
export function createRestarts(store: RowStore = createMemoryStore()): () => StoredRows {
  let rows: StoredRows | undefined
  return () => {
    rows?.save()
    rows = new StoredRows(store)
    return rows
  }
}
