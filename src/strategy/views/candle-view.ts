import { type CandleSeries, read } from '../../domain/candles.ts'

/** A closed candle. Prices in quote coin. */
export interface Candle {
  /** Unix ms, exchange clock, when it opened. */
  readonly openAt: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** How many tickers it was made of; 0 for one that nobody saw, which repeats the close before it. */
  readonly ticks: number
}

/** The closed candles of an instrument, the newest last. Valid inside `decide` only. */
export class CandleView {
  #series: CandleSeries | undefined

  /** For the runner: looks at another moment from now on. */
  pointAt(series: CandleSeries | undefined): void {
    this.#series = series
  }

  /** How many there are by now: grows up to what was declared, or more where another strategy needs more. */
  get length(): number {
    return this.#series?.length ?? 0
  }

  /** How many of them nobody saw, since the series was last empty. */
  get filled(): number {
    return this.#series?.filled ?? 0
  }

  /** 0 is the oldest, -1 the newest; undefined where there is none. */
  at(index: number): Candle | undefined {
    const series = this.#series
    const place = index < 0 ? this.length + index : index
    if (!series || !Number.isSafeInteger(place) || place < 0 || place >= series.length)
      return undefined
    return {
      openAt: read(series, 'openAt', place),
      open: read(series, 'open', place),
      high: read(series, 'high', place),
      low: read(series, 'low', place),
      close: read(series, 'close', place),
      ticks: read(series, 'ticks', place),
    }
  }

  /** The last `count` closes, the newest last; fewer while there are fewer. */
  closes(count: number): readonly number[] {
    const series = this.#series
    if (!series) return []
    const length = Math.min(Math.max(0, Math.floor(count)), series.length)
    return Array.from({ length }, (_, index) =>
      read(series, 'close', series.length - length + index),
    )
  }
}
