import type { MarketAggregates, TickerTable } from '../domain/ticker-table.ts'

/** Recorded tickers have a minute between them. */
const PERIOD_MS = 60_000

/** Answers kept each minute must give the same as four a second. */
export class MarketWatch {
  #minute = Number.NaN
  #last: MarketAggregates | undefined

  /** @returns the same object until it is computed anew; undefined: no row says enough */
  follow(
    table: Pick<TickerTable, 'symbols' | 'columns' | 'requestTime'>,
  ): MarketAggregates | undefined {
    const minute = Math.floor(table.requestTime / PERIOD_MS)
    // One answer's wrong time must not hold the next ones back.
    if (minute !== this.#minute) this.#last = buildMarketAggregates(table)
    this.#minute = minute
    return this.#last
  }
}

/** A row without its change of 24 hours counts nowhere. */
export function buildMarketAggregates({
  symbols,
  columns,
  requestTime,
}: Pick<TickerTable, 'symbols' | 'columns' | 'requestTime'>): MarketAggregates | undefined {
  const changes = columns.change24h
    .subarray(0, symbols.length)
    .filter((change) => Number.isFinite(change))
    .toSorted()
  const count = changes.length
  if (count === 0) return undefined
  const [low, high] = [changes[(count - 1) >> 1] ?? 0, changes[count >> 1] ?? 0]
  return Object.freeze({
    at: requestTime,
    count,
    advance: changes.filter((change) => change > 0).length,
    decline: changes.filter((change) => change < 0).length,
    medianChange: (low + high) / 2,
  })
}
