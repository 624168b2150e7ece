import { createRequire } from 'node:module'
import type * as Signals from 'trading-signals'
import { type CandleSeries, newestOpenAt, readCandle } from '../../domain/candles.ts'
import { unreachable } from '../../lib/unreachable.ts'
import type { IndicatorSpec } from './specs.ts'

type Library = typeof Signals & { readonly Wilder: typeof Signals.WSMA }
interface Worker {
  add(index: number): void
  result(): unknown
}

let library: Library | undefined

/**
 * The library has some seven hundred files, so it is loaded only for strategies with indicators.
 */
export function loadIndicators(): Library {
  return (library ??= createLibrary(
    createRequire(import.meta.url)('trading-signals') as typeof Signals,
  ))
}

/**
 * The library's Wilder average computes a simple average at each value, and only the first needs
 * it.
 */
function createLibrary(signals: typeof Signals): Library {
  class Wilder extends signals.WSMA {
    override update(price: number, replace: boolean): number | null {
      if (replace || this.result === undefined) return super.update(price, replace)
      return this.setResult((price - this.result) * (1 / this.interval) + this.result, replace)
    }
  }
  return { ...signals, Wilder }
}

interface KnownValues {
  readonly newestAt: number
  readonly length: number
  readonly values: Map<string, unknown>
}

/** Equal declarations share one value. */
const known = new WeakMap<CandleSeries, KnownValues>()

/**
 * Only the last `spec.candles` closed candles count, so the value is equal to the bit live, after a
 * restart and in a backtest. Undefined with too few candles, with mostly filled gaps, or if the
 * formula has no value.
 */
export function indicatorValue(spec: IndicatorSpec, series: CandleSeries): unknown {
  if (series.length < spec.candles) return undefined
  const newestAt = newestOpenAt(series)
  let entry = known.get(series)
  if (entry?.newestAt !== newestAt || entry.length !== series.length) {
    entry = { newestAt, length: series.length, values: new Map() }
    known.set(series, entry)
  }
  const key = `${spec.name} ${spec.settings.join(' ')} ${spec.candles}`
  if (entry.values.has(key)) return entry.values.get(key)
  const value = workOut(spec, series)
  entry.values.set(key, value)
  return value
}

function workOut(spec: IndicatorSpec, series: CandleSeries): unknown {
  if (isMostlyFilled(spec, series)) return undefined
  const worker = createWorker(spec, series)
  for (let index = series.length - spec.candles; index < series.length; index++) worker.add(index)
  const value = worker.result()
  const parts: readonly unknown[] =
    typeof value === 'object' && value !== null ? Object.values(value) : [value]
  // Constant prices give 0 / 0 in some formulas.
  return parts.every(Number.isFinite) ? Object.freeze(value) : undefined
}

/** Filled gaps repeat the close before them, so the first price after them would be an extreme. */
function isMostlyFilled({ candles }: IndicatorSpec, series: CandleSeries): boolean {
  if (series.filled === 0) return false
  let filled = 0
  for (let index = series.length - candles; index < series.length; index++)
    if (readCandle(series, 'ticks', index) === 0) filled++
  return filled > candles / 2
}

function createWorker({ name, settings }: IndicatorSpec, series: CandleSeries): Worker {
  const {
    ATR,
    ADX,
    BollingerBands,
    DonchianChannels,
    EMA,
    MACD,
    ROC,
    RSI,
    SMA,
    StochasticOscillator,
    Wilder,
    WMA,
  } = loadIndicators()
  const [period = 1, second = 1, third = 1] = settings
  switch (name) {
    case 'ema':
      return ofCloses(new EMA(period), series)
    case 'sma':
      return ofCloses(new SMA(period), series)
    case 'wma':
      return ofCloses(new WMA(period), series)
    case 'rsi':
      return whereCloseMoved(ofCloses(new RSI(period, Wilder), series), series)
    case 'roc':
      return ofCloses(new ROC(period), series)
    case 'atr':
      return ofCandles(new ATR(period, Wilder), series)
    case 'adx':
      return ofCandles(new ADX(period, Wilder), series)
    case 'donchian':
      return withoutNewest(
        ofCandles(new DonchianChannels(period), series),
        series,
        settings[1] ?? 0,
      )
    case 'bollinger':
      return ofCloses(new BollingerBands(period, second), series)
    case 'macd':
      return ofCloses(new MACD(new EMA(period), new EMA(second), new EMA(third)), series)
    case 'stochastic':
      return stochasticOf(
        new StochasticOscillator({ kPeriod: period, kSlowingPeriod: second, dPeriod: third }),
        series,
        period,
      )
    case 'standardDeviation':
      return ofWindow(series, ({ deviation }) => deviation)
    case 'zScore':
      return whereCloseMoved(
        ofWindow(series, ({ mean, deviation, last }) => (last - mean) / deviation),
        series,
      )
    default:
      return unreachable(name)
  }
}

interface IncrementalIndicator<Input> {
  add(input: Input): unknown
  getResultOrThrow(): unknown
}

function ofCloses(indicator: IncrementalIndicator<number>, series: CandleSeries): Worker {
  return {
    add: (index) => indicator.add(readCandle(series, 'close', index)),
    result: () => indicator.getResultOrThrow(),
  }
}

function withoutNewest(worker: Worker, series: CandleSeries, count: number): Worker {
  return {
    ...worker,
    add(index) {
      if (index < series.length - count) worker.add(index)
    },
  }
}

function whereCloseMoved(worker: Worker, series: CandleSeries): Worker {
  const closes = new Set<number>()
  return {
    add(index) {
      if (closes.size < 2) closes.add(readCandle(series, 'close', index))
      worker.add(index)
    },
    result: () => (closes.size < 2 ? undefined : worker.result()),
  }
}

interface HighLowClose {
  readonly high: number
  readonly low: number
  readonly close: number
}

function ofCandles(indicator: IncrementalIndicator<HighLowClose>, series: CandleSeries): Worker {
  return {
    add: (index) =>
      indicator.add({
        high: readCandle(series, 'high', index),
        low: readCandle(series, 'low', index),
        close: readCandle(series, 'close', index),
      }),
    result: () => indicator.getResultOrThrow(),
  }
}

/** A window without a range gives 0 / 0, which the library takes for the bottom. */
function stochasticOf(
  indicator: InstanceType<Library['StochasticOscillator']>,
  series: CandleSeries,
  period: number,
): Worker {
  const ofAll = ofCandles(indicator, series)
  let isDefined = true
  let count = 0
  return {
    add(index) {
      count++
      if (count >= period && !hasRange(series, index - period + 1, index)) isDefined = false
      ofAll.add(index)
    },
    result() {
      if (!isDefined) return undefined
      const { stochK, stochD } = indicator.getResultOrThrow()
      return { k: stochK, d: stochD }
    },
  }
}

function hasRange(series: CandleSeries, from: number, to: number): boolean {
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let index = from; index <= to; index++) {
    high = Math.max(high, readCandle(series, 'high', index))
    low = Math.min(low, readCandle(series, 'low', index))
  }
  return high > low
}

interface Spread {
  readonly mean: number
  readonly deviation: number
  readonly last: number
}

function ofWindow(series: CandleSeries, toValue: (spread: Spread) => number): Worker {
  const { getAverage, getStandardDeviation } = loadIndicators()
  const closes: number[] = []
  return {
    add: (index) => closes.push(readCandle(series, 'close', index)),
    result() {
      const mean = getAverage(closes)
      return toValue({
        mean,
        deviation: getStandardDeviation(closes, mean),
        last: closes.at(-1) ?? mean,
      })
    },
  }
}
