import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { readTickersJson } from '../../../src/exchange/readers/ticker-reader.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'

interface WireRow {
  readonly symbol: string
  readonly bidPr?: string | null | undefined
}

/** Replacements for a documented row. */
const WAYS: readonly ((row: WireRow) => readonly unknown[])[] = [
  (row) => [{ ...row, lastPr: '0' }],
  (row) => [{ ...row, lastPr: '-1' }],
  (row) => [{ ...row, lastPr: '' }],
  (row) => [{ ...row, lastPr: '1e400' }],
  (row) => [{ ...row, lastPr: '0x10' }],
  (row) => [{ ...row, lastPr: 7 }],
  (row) => [{ ...row, lastPr: '1e308' }],
  (row) => [{ ...row, bidPr: '1e307', askPr: '1e308' }],
  (row) => [{ ...row, bidPr: '0', askPr: '0' }],
  (row) => [{ ...row, deliveryStatus: 'delivery_unheard_of' }],
  (row) => [{ ...row, deliveryStatus: 7 }],
  (row) => [{ ...row, ts: '-5' }],
  (row) => [{ ...row, ts: '1e15' }],
  (row) => [{ symbol: row.symbol }],
  (row) => [{ ...row, symbol: '' }],
  (row) => [row, row],
  () => [null],
  () => [7, [], 'row'],
  () => [],
]

/** Answers with one bad row, read by the daemon's own reader. */
export class BrokenTickers {
  /** Keyed by table: expected bids of the other instruments. */
  readonly #expected = new WeakMap<TickerTable, ReadonlyMap<string, number>>()

  read(
    table: TickerTable,
    rows: readonly WireRow[],
    { broken, faults }: { readonly broken: string; readonly faults: VirtualFaults },
  ): void {
    const way = WAYS[faults.severity(0, WAYS.length)]
    const data = rows.flatMap((row) => (row.symbol === broken ? (way?.(row) ?? []) : [row]))
    readTickersJson(Buffer.from(JSON.stringify({ code: '00000', data })), table)
    const others = rows.filter(({ symbol }) => symbol !== broken)
    this.#expected.set(table, new Map(others.map(({ symbol, bidPr }) => [symbol, Number(bidPr)])))
  }

  /** The table is filled anew: a doubled request fills it twice. */
  forget(table: TickerTable): void {
    this.#expected.delete(table)
  }

  /** Instruments missing in the table despite good rows. */
  missingFrom(table: TickerTable): readonly string[] {
    const expected = this.#expected.get(table) ?? new Map<string, number>()
    return [...expected].flatMap(([symbol, bid]) =>
      table.read(symbol, 'bidPr') === bid ? [] : [symbol],
    )
  }
}
