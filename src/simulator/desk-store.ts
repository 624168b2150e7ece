/**
 * Where desks keep their rows. What one call into a desk puts and drops is stored together, or not at all.
 * An id begins with the desk's own word and a slash: `spot/order/…`, `wallet/coin/…`, `margin/…`.
 */
export interface DeskStore {
  /** Every row whose id begins with the prefix, in ascending order of the ids. */
  rows(prefix: string): readonly DeskRow[]
  /** @param json The row as JSON text; it replaces an earlier one. */
  put(id: string, json: string): void
  drop(id: string): void
}

export interface DeskRow {
  readonly id: string
  readonly json: string
}
