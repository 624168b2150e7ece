import { TICKER_COLUMNS, TickerTable } from './ticker-table.ts'

/** A few rows of a ticker table, as plain data that is not overwritten. */
export interface TickerRows {
  /** Unix ms, our clock and the exchange's, as in {@link TickerTable}. */
  readonly readAt: number
  readonly requestTime: number
  /** Names of the columns: a later version may have others. */
  readonly columns: readonly string[]
  /** Keyed by symbol: a value for each column, NaN where there is none. */
  readonly rows: ReadonlyMap<string, readonly number[]>
}

/** Copies the rows of these symbols; a symbol without a row stays without one. */
export function toTickerRows(table: TickerTable, symbols: Iterable<string>): TickerRows {
  const rows = new Map<string, readonly number[]>()
  for (const symbol of symbols) {
    const row = table.rowOf(symbol)
    if (row < 0) continue
    rows.set(
      symbol,
      TICKER_COLUMNS.map((column) => table.columns[column][row] ?? Number.NaN),
    )
  }
  return { readAt: table.readAt, requestTime: table.requestTime, columns: TICKER_COLUMNS, rows }
}

/** A table of only these rows. Columns that this version does not know are ignored. */
export function toTickerTable({ readAt, requestTime, columns, rows }: TickerRows): TickerTable {
  const table = new TickerTable(Math.max(1, rows.size))
  for (const [symbol, values] of rows) {
    const row = table.claimRow(symbol)
    for (const column of TICKER_COLUMNS) {
      table.columns[column][row] = values[columns.indexOf(column)] ?? Number.NaN
    }
  }
  table.readAt = readAt
  table.requestTime = requestTime
  return table
}
