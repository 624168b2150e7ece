import type { PlotPoint } from '../../domain/plot.ts'
import { bucketOf, emptyColumn, type TimeBuckets } from './time-buckets.ts'

/** Columns of one instrument; further plots are left out of its charts. */
const COLUMNS_MAX = 16

/** The last value of a bucket for each plot. */
export class PlotColumns {
  readonly #buckets: TimeBuckets
  /** Keyed by symbol, then by strategy and name. */
  readonly #columns = new Map<string, Map<string, number[]>>()

  constructor(buckets: TimeBuckets) {
    this.#buckets = buckets
  }

  take(at: number, strategyId: string, points: readonly PlotPoint[]): void {
    const bucket = bucketOf(this.#buckets, at)
    for (const { symbol, name, value } of points) {
      const column = this.#columnOf(symbol, `${strategyId} ${name}`)
      if (column) column[bucket] = value
    }
  }

  /** A value holds until the next. Undefined: nothing was plotted. */
  facts(): Record<string, Record<string, readonly number[]>> | undefined {
    if (this.#columns.size === 0) return undefined
    return Object.fromEntries(
      [...this.#columns].map(([symbol, columns]) => [
        symbol,
        Object.fromEntries([...columns].map(([name, column]) => [name, carryForward(column)])),
      ]),
    )
  }

  #columnOf(symbol: string, name: string): number[] | undefined {
    const columns = this.#columns.get(symbol) ?? new Map<string, number[]>()
    this.#columns.set(symbol, columns)
    if (!columns.has(name) && columns.size < COLUMNS_MAX)
      columns.set(name, emptyColumn(this.#buckets))
    return columns.get(name)
  }
}

function carryForward(column: readonly number[]): readonly number[] {
  let last = Number.NaN
  return column.map((value) => {
    if (!Number.isNaN(value)) last = value
    return last
  })
}
