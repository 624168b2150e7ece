/**
 * Where services keep their rows. What one call into a service puts and drops is stored together, or not at all.
 * An id begins with the service's own word and a slash: `spot/order/…`, `wallet/coin/…`, `margin/…`.
 */
export interface ServiceStore {
  /** Every row whose id begins with the prefix, in ascending order of the ids. */
  rows(prefix: string): readonly ServiceRow[]
  /** @param json The row as JSON text; it replaces an earlier one. */
  put(id: string, json: string): void
  drop(id: string): void
}

export interface ServiceRow {
  readonly id: string
  readonly json: string
}
