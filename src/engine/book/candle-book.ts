import {
  appendCandle,
  candleKey,
  type CandleRow,
  type CandleSeries,
  capacityOf,
  createCandleSeries,
  toRows,
} from '../../domain/candles.ts'
import type { CandlesRecord } from '../../domain/record.ts'
import type { WritableBook } from './book.ts'

export function applyCandles(book: WritableBook, record: CandlesRecord): void {
  const { symbol, intervalMs, capacity, candles, isAnew } = record
  const key = candleKey(symbol, intervalMs)
  if (capacity === 0) {
    book.candles.delete(key)
    return
  }
  const known = book.candles.get(key)
  const isSame = known !== undefined && capacityOf(known) === capacity && isAnew !== true
  const series = isSame ? known : createCandleSeries(intervalMs, capacity)
  if (!isSame && known !== undefined && isAnew !== true) appendAll(series, toRows(known))
  appendAll(series, candles)
  book.candles.set(key, series)
}

function appendAll(series: CandleSeries, rows: readonly CandleRow[]): void {
  for (const row of rows) appendCandle(series, row)
}

/** A {@link CandleSeries} as text. */
export interface CandlesJson {
  readonly intervalMs: number
  readonly capacity: number
  readonly filled: number
  readonly candles: readonly CandleRow[]
}

export function candlesToJson(series: CandleSeries): CandlesJson {
  const { intervalMs, filled } = series
  return { intervalMs, capacity: capacityOf(series), filled, candles: toRows(series) }
}

export function candlesFromJson({
  intervalMs,
  capacity,
  filled,
  candles,
}: CandlesJson): CandleSeries {
  const series = createCandleSeries(intervalMs, capacity)
  appendAll(series, candles)
  return { ...series, filled }
}
