import { type MarketAggregates, TICKER_COLUMNS, TickerTable } from './ticker-table.ts'

/** A copy of rows, which is not overwritten as a ticker table is. */
export interface TickerRows {
  readonly readAt: number
  readonly requestTime: number
  /** A later version may have other columns. */
  readonly columns: readonly string[]
  readonly rows: ReadonlyMap<string, readonly number[]>
  /** Counted from all rows, also those that are not kept here. */
  readonly market?: MarketAggregates
}

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
  const { readAt, requestTime, market } = table
  return { readAt, requestTime, columns: TICKER_COLUMNS, rows, ...(market && { market }) }
}

export function toTickerTable({
  readAt,
  requestTime,
  columns,
  rows,
  market,
}: TickerRows): TickerTable {
  const table = new TickerTable(Math.max(1, rows.size))
  for (const [symbol, values] of rows) {
    const row = table.claimRow(symbol)
    for (const column of TICKER_COLUMNS) {
      table.columns[column][row] = values[columns.indexOf(column)] ?? Number.NaN
    }
  }
  table.readAt = readAt
  table.requestTime = requestTime
  table.market = market && Object.freeze(market)
  return table
}
