export interface StoredRow {
  /** Kind of row: a word of lower-case letters and underscores. */
  readonly table: string
  /** Unique in its table. */
  readonly id: string
  /**
   * JSON of the moment at which it is read, so it must be read at once. Undefined if the row was
   * removed.
   */
  readonly json: string | undefined
  /** The object behind the JSON, if available; it must be read at once, and never changed. */
  readonly entity?: unknown
}

/**
 * Storage of the exchange's state beyond its process. It is synchronous: what `save` was given
 * survives a restart.
 */
export interface RowStore {
  /** All rows, or undefined if nothing was ever saved. */
  load(): readonly StoredRow[] | undefined
  /** Saves the changes of one operation: all rows or none. */
  save(changes: readonly StoredRow[]): void
}
