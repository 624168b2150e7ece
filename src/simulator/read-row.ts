import { decimal } from '../lib/decimal.ts'

/** Reads a row that its own service wrote. @param decimals Names of the columns, at any depth, that are decimals. */
export function readRow<Row>(json: string, decimals: readonly string[]): Row {
  return JSON.parse(json, (name, value: unknown) =>
    typeof value === 'string' && decimals.includes(name) ? decimal(value) : value,
  ) as Row
}
