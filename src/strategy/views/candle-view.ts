import { type CandleSeries, readCandle } from '../../domain/candles.ts'

/** Quote coin. */
export interface Candle {
  /** Unix ms, exchange clock. */
  readonly openAt: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Tickers in it; 0 for a filled gap, which repeats the close before it. */
  readonly ticks: number
}

/** Closed candles, newest last. Valid only inside `decide`. */
export class CandleView {
  #series: CandleSeries | undefined

  pointAt(series: CandleSeries | undefined): void {
    this.#series = series
  }

  /** Grows up to the declared number, or more if another strategy needs more. */
  get length(): number {
    return this.#series?.length ?? 0
  }

  get filled(): number {
    return this.#series?.filled ?? 0
  }

  /** 0 is the oldest, -1 the newest. */
  at(index: number): Candle | undefined {
    const series = this.#series
    const place = index < 0 ? this.length + index : index
    if (!series || !Number.isSafeInteger(place) || place < 0 || place >= series.length)
      return undefined
    return {
      openAt: readCandle(series, 'openAt', place),
      open: readCandle(series, 'open', place),
      high: readCandle(series, 'high', place),
      low: readCandle(series, 'low', place),
      close: readCandle(series, 'close', place),
      ticks: readCandle(series, 'ticks', place),
    }
  }

  /** The last `count`, newest last; fewer if there are fewer. */
  closes(count: number): readonly number[] {
    const series = this.#series
    if (!series) return []
    const length = Math.min(Math.max(0, Math.floor(count)), series.length)
    return Array.from({ length }, (_, index) =>
      readCandle(series, 'close', series.length - length + index),
    )
  }
}
