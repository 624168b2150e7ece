import type { ContractRules } from '../domain/contract-rules.ts'
import {
  type MarketAggregates,
  MarketWatch,
  TICKER_COLUMNS,
  type TickerColumn,
  TickerTable,
} from '../domain/ticker-table.ts'
import { indexFrom } from '../prices/recording.ts'
import type { UniverseRecording, UniverseSpan } from '../recording/universe/universe-recording.ts'

export interface KeptRowsOptions extends Pick<UniverseSpan, 'fromAt' | 'toAt'> {
  readonly recording: Pick<UniverseRecording, 'entries'>
  /** The time until the next answer: for so long a row counts as new. */
  readonly stepMs: number
  readonly traded: ReadonlySet<string>
}

export type TickerRow = Readonly<Record<TickerColumn, number>>

const PRICE_COLUMNS = ['lastPr', 'askPr', 'bidPr', 'bidSz', 'askSz', 'ts'] as const

/** Shows the last answer before an instant. A run reads the file once, from its beginning. */
export class KeptRows {
  readonly #options: KeptRowsOptions
  readonly #entries: ReturnType<UniverseRecording['entries']>
  readonly #shown = new TickerTable()
  #isShown = false
  #market: MarketAggregates | undefined
  #next: TickerTable | undefined
  readonly #watch = new MarketWatch()
  #contracts: ReadonlyMap<string, ContractRules> | undefined
  #nextContracts: ReadonlyMap<string, ContractRules> | undefined
  #contractsAt: number | undefined

  constructor(options: KeptRowsOptions) {
    const { recording, fromAt, toAt } = options
    this.#options = options
    this.#entries = recording.entries({ fromAt, toAt })
    this.#read()
  }

  /** Stays the same object until the contracts change; undefined if none were kept. */
  get contracts(): ReadonlyMap<string, ContractRules> | undefined {
    return this.#contracts
  }

  /** Counts all kept rows, also those of instruments with prices of their own. */
  get market(): MarketAggregates | undefined {
    return this.#market
  }

  /**
   * Fills the table with the last answer's rows in order, those of the simulated market in their
   * places or behind.
   * @param market all its instruments; undefined: not listed now @returns false before the first
   * answer
   */
  fill(
    table: TickerTable,
    now: number,
    market: ReadonlyMap<string, TickerRow | undefined>,
  ): boolean {
    this.#advance(now)
    if (!this.#isShown) return false
    const kept = this.#shown
    for (const [row, symbol] of kept.symbols.entries()) {
      if (this.#options.traded.has(symbol)) this.#copyTraded(table, { row, symbol, now })
      else if (!market.has(symbol)) this.#copy(table, row, symbol)
      else this.#copyPriced(table, { row, symbol, own: market.get(symbol) })
    }
    for (const [symbol, own] of market) {
      if (own === undefined || table.rowOf(symbol) >= 0 || this.#options.traded.has(symbol))
        continue
      const place = table.claimRow(symbol)
      for (const column of TICKER_COLUMNS) table.columns[column][place] = own[column]
    }
    return true
  }

  #copy(table: TickerTable, row: number, symbol: string): number {
    const place = table.claimRow(symbol)
    for (const column of TICKER_COLUMNS)
      table.columns[column][place] = this.#shown.columns[column][row] as number
    return place
  }

  /** An instrument with prices of its own is listed only while it has them. */
  #copyPriced(
    table: TickerTable,
    {
      row,
      symbol,
      own,
    }: { readonly row: number; readonly symbol: string; readonly own: TickerRow | undefined },
  ): void {
    if (own === undefined) return
    const place = this.#copy(table, row, symbol)
    for (const column of PRICE_COLUMNS) table.columns[column][place] = own[column]
  }

  #copyTraded(
    table: TickerTable,
    { row, symbol, now }: { readonly row: number; readonly symbol: string; readonly now: number },
  ): void {
    const place = this.#copy(table, row, symbol)
    const shownAt = this.#shown.columns.ts[row] as number
    const since = Number.isNaN(shownAt) ? this.#shown.requestTime : shownAt
    table.columns.ts[place] = Math.min(now, since + this.#options.stepMs)
  }

  #advance(now: number): void {
    while (this.#next !== undefined && this.#next.requestTime <= now) {
      copyTable(this.#next, this.#shown)
      this.#isShown = true
      this.#market = this.#watch.follow(this.#shown)
      this.#contracts = this.#nextContracts
      this.#read()
    }
  }

  #read(): void {
    this.#next = undefined
    for (let next = this.#entries.next(); next.done !== true; next = this.#entries.next()) {
      if (next.value.kind === 'tickers') {
        this.#next = next.value.table
        return
      }
      // The file of a day begins with all contracts again, which is no new answer.
      if (next.value.readAt === this.#contractsAt) continue
      this.#contractsAt = next.value.readAt
      this.#nextContracts = next.value.contracts
    }
  }
}

function copyTable(from: TickerTable, to: TickerTable): void {
  to.clear()
  for (const symbol of from.symbols) to.claimRow(symbol)
  for (const column of TICKER_COLUMNS) to.columns[column].set(from.columns[column])
  to.requestTime = from.requestTime
  to.readAt = from.readAt
  to.unreadable = from.unreadable
}

/**
 * Makes each look fall on the instant at which an answer was kept, so that decisions see the same
 * rows as live.
 * @param instants of the kept answers, Unix ms, rising
 * @returns ms from now until the next request
 */
export function createKeptLooks(
  instants: Float64Array,
  {
    tickersMs,
    stepMs,
    latencyMs,
  }: { readonly tickersMs: number; readonly stepMs: number; readonly latencyMs: number },
): (now: number) => number {
  const gridMs = Math.max(1000, Math.round(stepMs / 1000) * 1000)
  return (now) => {
    const arrivesAt = now + latencyMs
    const last = indexFrom(instants, arrivesAt)
    const keptAt = instants[last] === arrivesAt ? instants[last + 1] : instants[last]
    const usualAt = arrivesAt + tickersMs
    if (keptAt === undefined || usualAt < Math.floor(keptAt / gridMs) * gridMs) return tickersMs
    return keptAt - arrivesAt
  }
}
