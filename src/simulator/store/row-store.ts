/** One row as it is now, or its end. */
export interface StoredRow {
  /** The kind of row: a word of small letters and underscores. */
  readonly table: string
  /** Unique in its table. */
  readonly id: string
  /** JSON, of the moment when it is read: at once. Undefined when the row is gone. */
  readonly json: string | undefined
  /** What the JSON is of, where it is at hand: to be looked at at once, and never changed. */
  readonly entity?: unknown
}

/** Where the exchange's state survives its process. Synchronous: what `save` was given is there after a restart. */
export interface RowStore {
  /** Every row that is there, or undefined when nothing was ever saved. */
  load(): readonly StoredRow[] | undefined
  /** All rows or none: the changes of one operation. */
  save(changes: readonly StoredRow[]): void
}
