import type { MarketAggregates, TickerTable } from '../domain/ticker-table.ts'

/** Universes are evaluated at no shorter times, and recorded tickers have a minute between them. */
const PERIOD_MS = 60_000

/**
 * Aggregates of the first answer in each minute of the exchange's clock. They are held until the
 * next one, so that an answer which was kept each minute gives the same as answers that come four
 * times a second.
 */
export class MarketWatch {
  #minute = Number.NaN
  #last: MarketAggregates | undefined

  /** @returns the same object as long as nothing is computed anew; undefined: no row says enough */
  follow(
    table: Pick<TickerTable, 'symbols' | 'columns' | 'requestTime'>,
  ): MarketAggregates | undefined {
    const minute = Math.floor(table.requestTime / PERIOD_MS)
    // A wrong time of one answer must not hold the next ones back.
    if (minute !== this.#minute) this.#last = buildMarketAggregates(table)
    this.#minute = minute
    return this.#last
  }
}

/** A row that does not state its change of 24 hours counts nowhere. */
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
