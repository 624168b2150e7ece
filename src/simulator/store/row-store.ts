export interface StoredRow {
  readonly table: string
  readonly id: string
  /** Must be read at once; undefined if the row was removed. */
  readonly json: string | undefined
  /** Must be read at once, and never changed. */
  readonly entity?: unknown
}

/** Synchronous: what was saved survives a restart. */
export interface RowStore {
  load(): readonly StoredRow[] | undefined
  save(changes: readonly StoredRow[]): void
}
