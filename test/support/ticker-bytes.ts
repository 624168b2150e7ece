import { TICKER_COLUMNS, type TickerTable } from '../../src/domain/ticker-table.ts'

/** Two tables are equal only if they agree to the bit. */
export function toBytes(table: TickerTable): string {
  const { symbols, readAt, requestTime, unreadable } = table
  const columns = TICKER_COLUMNS.map((column) => {
    const cells = table.columns[column].slice(0, symbols.length)
    return Buffer.from(cells.buffer).toString('base64')
  })
  return JSON.stringify({ symbols, readAt, requestTime, unreadable: [...unreadable], columns })
}
