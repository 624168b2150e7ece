import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { type VirtualFaults } from './virtual-faults.ts'

const STALE_MS = [500, 60_000] as const

type Quote = Record<'bidPr' | 'askPr' | 'lastPr', number>

/** Prices that no market makes. */
const ABSURD: readonly ((quote: Quote) => Partial<Quote>)[] = [
  () => ({ bidPr: 0, askPr: 0, lastPr: 0 }),
  () => ({ bidPr: Number.NaN, askPr: Number.NaN, lastPr: Number.NaN }),
  ({ bidPr, askPr }) => ({ bidPr: askPr, askPr: bidPr }),
  () => ({ askPr: 0 }),
  () => ({ bidPr: -1 }),
  ({ bidPr, askPr, lastPr }) => ({ bidPr: bidPr * 10, askPr: askPr * 10, lastPr: lastPr * 10 }),
  ({ bidPr, askPr, lastPr }) => ({ bidPr: bidPr / 10, askPr: askPr / 10, lastPr: lastPr / 10 }),
]

export function spoilTicker(table: TickerTable, symbol: string, faults: VirtualFaults): void {
  const { columns } = table
  const row = table.rowOf(symbol)
  if (faults.strikes('tickerStale', symbol)) {
    columns.ts[row] = (columns.ts[row] ?? 0) - faults.severity(...STALE_MS)
  }
  if (!faults.strikes('tickerAbsurd', symbol)) return
  const quote: Quote = {
    bidPr: columns.bidPr[row] ?? 0,
    askPr: columns.askPr[row] ?? 0,
    lastPr: columns.lastPr[row] ?? 0,
  }
  const change = ABSURD[faults.severity(0, ABSURD.length)]?.(quote) ?? {}
  for (const [name, value] of Object.entries(change)) columns[name as keyof Quote][row] = value
}
