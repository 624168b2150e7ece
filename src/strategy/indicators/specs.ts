import { CANDLES_MAX, parseInterval } from '../../domain/candles.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'

export type IndicatorName =
  | 'ema'
  | 'sma'
  | 'wma'
  | 'rsi'
  | 'atr'
  | 'adx'
  | 'bollinger'
  | 'macd'
  | 'stochastic'
  | 'donchian'
  | 'zScore'
  | 'roc'
  | 'standardDeviation'

/** An indicator is a function of the last `candles` closed candles only. */
export interface IndicatorSpec<Value = unknown> {
  readonly name: IndicatorName
  readonly interval: string
  readonly settings: readonly number[]
  readonly candles: number
  readonly valueType?: Value
}

export type IndicatorSpecs = Readonly<Record<string, IndicatorSpec>>

export type NoIndicators = Readonly<Record<never, never>>

/** Undefined with too few closed candles. */
export type IndicatorValues<Specs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends IndicatorSpec<infer Value>
    ? Value | undefined
    : never
}

export interface Bands {
  readonly lower: number
  readonly middle: number
  readonly upper: number
}

export interface Macd {
  readonly macd: number
  readonly signal: number
  readonly histogram: number
}

export interface Stochastic {
  readonly k: number
  readonly d: number
}

interface Period {
  readonly interval: string
  readonly period: number
}

interface WindowedPeriod extends Period {
  readonly candles?: number
}

/*
 * Exponential averages begin so many periods back that the first value weighs less than 2e-7:
 * `(1 - 2 / (n + 1)) ** (8 * n)`, and Wilder's `(1 - 1 / n) ** (16 * n)`.
 */
const EMA_PERIODS = 8
const WILDER_PERIODS = 16

/** Exponential moving average of closes, weight 2 / (period + 1). Uses 8 × period candles. */
export function ema({
  interval,
  period,
  candles = EMA_PERIODS * period,
  ...rest
}: WindowedPeriod): IndicatorSpec<number> {
  return spec({ name: 'ema', interval, periods: [period], candles }, period, rest)
}

/** Simple moving average of closes. Uses `period` candles. */
export function sma({ interval, period, ...rest }: Period): IndicatorSpec<number> {
  return spec({ name: 'sma', interval, periods: [period], candles: period }, period, rest)
}

/** Moving average of closes with weights 1 to `period`. Uses `period` candles. */
export function wma({ interval, period, ...rest }: Period): IndicatorSpec<number> {
  return spec({ name: 'wma', interval, periods: [period], candles: period }, period, rest)
}

/**
 * Wilder's relative strength index of closes, 0 to 100; undefined for constant closes. Uses 16 ×
 * period + 1 candles.
 */
export function rsi({
  interval,
  period,
  candles = WILDER_PERIODS * period + 1,
  ...rest
}: WindowedPeriod): IndicatorSpec<number> {
  return spec({ name: 'rsi', interval, periods: [period], candles }, period + 1, rest)
}

/** Wilder's average true range, in quote coin. Uses 16 × period candles. */
export function atr({
  interval,
  period,
  candles = WILDER_PERIODS * period,
  ...rest
}: WindowedPeriod): IndicatorSpec<number> {
  return spec({ name: 'atr', interval, periods: [period], candles }, period + 1, rest)
}

/** Wilder's average directional index, 0 to 100. Smoothed twice, so it uses 32 × period candles. */
export function adx({
  interval,
  period,
  candles = 2 * WILDER_PERIODS * period,
  ...rest
}: WindowedPeriod): IndicatorSpec<number> {
  return spec({ name: 'adx', interval, periods: [period], candles }, 2 * period, rest)
}

/**
 * Simple moving average of closes, with bands of `deviations` population standard deviations. Uses
 * `period` candles.
 */
export function bollinger({
  interval,
  period,
  deviations = 2,
  ...rest
}: Period & { readonly deviations?: number }): IndicatorSpec<Bands> {
  return spec(
    { name: 'bollinger', interval, periods: [period], factors: [deviations], candles: period },
    period,
    rest,
  )
}

/**
 * Difference of two exponential averages of closes, and its average. Uses 8 × (slow + signal)
 * candles.
 */
export function macd({
  interval,
  fast = 12,
  slow = 26,
  signal = 9,
  candles = EMA_PERIODS * (slow + signal),
  ...rest
}: {
  readonly interval: string
  readonly fast?: number
  readonly slow?: number
  readonly signal?: number
  readonly candles?: number
}): IndicatorSpec<Macd> {
  return spec(
    { name: 'macd', interval, periods: [fast, slow, signal], candles },
    slow + signal,
    rest,
  )
}

/**
 * Position of the close between low and high of `period` candles, 0 to 100, smoothed twice by
 * simple averages.
 */
export function stochastic({
  interval,
  period,
  slowing = 3,
  signal = 3,
  ...rest
}: {
  readonly interval: string
  readonly period: number
  readonly slowing?: number
  readonly signal?: number
}): IndicatorSpec<Stochastic> {
  const candles = period + slowing + signal - 2
  return spec(
    { name: 'stochastic', interval, periods: [period, slowing, signal], candles },
    candles,
    rest,
  )
}

/**
 * Highest high and lowest low of `period` candles, and their middle. With `shift: 1` the candle
 * that just closed does not count, so its close can be outside. Uses period + shift candles.
 */
export function donchian({
  interval,
  period,
  shift = 0,
  ...rest
}: Period & { readonly shift?: number }): IndicatorSpec<Bands> {
  const periods = shift === 0 ? [period] : [period, shift]
  return spec(
    { name: 'donchian', interval, periods, candles: period + shift },
    period + shift,
    rest,
  )
}

/**
 * Distance of the last close from the mean of `period` closes, in population standard deviations.
 */
export function zScore({ interval, period, ...rest }: Period): IndicatorSpec<number> {
  return spec({ name: 'zScore', interval, periods: [period], candles: period }, period, rest)
}

/**
 * Change of the close over `period` candles as a ratio: 0.01 is one per cent. Uses period + 1
 * candles.
 */
export function roc({ interval, period, ...rest }: Period): IndicatorSpec<number> {
  return spec({ name: 'roc', interval, periods: [period], candles: period + 1 }, period + 1, rest)
}

/** Population standard deviation of `period` closes, in quote coin. */
export function standardDeviation({ interval, period, ...rest }: Period): IndicatorSpec<number> {
  return spec(
    { name: 'standardDeviation', interval, periods: [period], candles: period },
    period,
    rest,
  )
}

interface SpecParts extends Pick<IndicatorSpec, 'name' | 'interval' | 'candles'> {
  readonly periods: readonly number[]
  /** Need not be whole, unlike periods. */
  readonly factors?: readonly number[]
}

/**
 * @param rest refused, because a misspelt option would leave a default in place @throws RangeError
 * for an impossible spec
 */
function spec<Value>(
  { name, interval, periods, factors = [], candles }: SpecParts,
  candlesMin: number,
  rest: object,
): IndicatorSpec<Value> {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    const advice = didYouMeanEnd(unknown, Object.keys(OPTIONS))
    throw new RangeError(`${name}: has no option "${unknown}"${advice}`)
  }
  if (parseInterval(interval) === undefined)
    throw new RangeError(`${name}: ${INTERVAL_RULE}, not "${interval}"`)
  if (!periods.every((period) => Number.isSafeInteger(period) && period >= 1)) {
    throw new RangeError(
      `${name}: a period is a whole number above 0, not ${periods.map(String).join(', ')}`,
    )
  }
  if (!factors.every((factor) => Number.isFinite(factor) && factor > 0)) {
    throw new RangeError(
      `${name}: a factor is a number above 0, not ${factors.map(String).join(', ')}`,
    )
  }
  if (!Number.isSafeInteger(candles) || candles < candlesMin || candles > CANDLES_MAX) {
    throw new RangeError(`${name}: needs ${candlesMin} to ${CANDLES_MAX} candles, not ${candles}`)
  }
  return Object.freeze({ name, interval, settings: [...periods, ...factors], candles })
}

export const INDICATORS = {
  adx,
  atr,
  bollinger,
  donchian,
  ema,
  macd,
  roc,
  rsi,
  sma,
  standardDeviation,
  stochastic,
  wma,
  zScore,
} as const satisfies Readonly<Record<IndicatorName, unknown>>

type OptionsOf<Indicator> = Indicator extends (options: infer Options) => unknown
  ? keyof Options
  : never

const OPTIONS: Readonly<Record<OptionsOf<(typeof INDICATORS)[IndicatorName]>, true>> = {
  shift: true,
  interval: true,
  period: true,
  candles: true,
  deviations: true,
  fast: true,
  slow: true,
  signal: true,
  slowing: true,
}

export const INTERVAL_RULE =
  'an interval is a number and ms, s, m, h or d that divides a day, at least 1s'
