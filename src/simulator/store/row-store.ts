/** The kinds of rows that are stored. `services` holds the rows of every service, in forms that are the services' own. */
export const STORED_TABLES = [
  'meta',
  'counterparties',
  'accounts',
  'symbols',
  'orders',
  'plan_orders',
  'positions',
  'fills',
  'idempotency',
  'services',
] as const

export type StoredTable = (typeof STORED_TABLES)[number]

/** One row as it is now, or its end. */
export interface StoredRow {
  readonly table: StoredTable
  readonly id: string
  /** JSON, of the moment when it is read: at once. Undefined when the row is gone. */
  readonly json: string | undefined
  /** What the JSON is of, where it is at hand: to be looked at at once, and never changed. */
  readonly entity?: unknown
}

/** Where the core's state survives its process. Synchronous: what `save` was given is there after a restart. */
export interface RowStore {
  /** Every row that is there, or undefined when nothing was ever saved. */
  load(): readonly StoredRow[] | undefined
  /** All rows or none: the changes of one operation. */
  save(changes: readonly StoredRow[]): void
}
