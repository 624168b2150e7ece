import { DAY_MS, type DayClose, type EquityFacts } from './collect/equity-series.ts'

/** `note` says why it is null. */
export interface Ratio {
  readonly name: string
  readonly value: number | null
  readonly unit: 'share' | 'number' | 'money' | 'days'
  readonly formula: string
  readonly note?: string
}

/** A share of the equity at which the day (UTC) began. */
export interface DayReturn {
  readonly startAt: number
  readonly value: number
}

/** After fees, in margin coin. */
export interface TripSums {
  trips: number
  wins: number
  gains: number
  losses: number
}

export interface MetricsInput {
  readonly opening: number
  readonly final: number
  readonly fromAt: number
  readonly toAt: number
  readonly equity: EquityFacts
  readonly trips: Readonly<TripSums>
  /** Price times size, in margin coin. */
  readonly traded: number
  readonly nearestDistance: number
}

const DAYS_A_YEAR = 365
/** 18 good days once gave a yearly growth of 28 digits. */
const ANNUALISED_FROM_DAYS = 90
const ROLLING_DAYS = 30

const UNDER_90 = `not annualised: the run is shorter than ${ANNUALISED_FROM_DAYS} days`

export function toDayReturns(days: readonly DayClose[], opening: number): readonly DayReturn[] {
  return days.map(({ startAt, equity }, index) => {
    const before = days[index - 1]?.equity ?? opening
    return { startAt, value: before > 0 ? equity / before - 1 : 0 }
  })
}

function mean(values: readonly number[]): number {
  return values.length === 0
    ? Number.NaN
    : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The sample's deviation, with n - 1. */
export function deviation(values: readonly number[]): number {
  if (values.length < 2) return Number.NaN
  const centre = mean(values)
  return Math.sqrt(
    values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1),
  )
}

/** Values above zero count as zero. */
export function downsideDeviation(values: readonly number[]): number {
  return Math.sqrt(mean(values.map((value) => Math.min(0, value) ** 2)))
}

export function rollingSharpe(returns: readonly DayReturn[]): readonly DayReturn[] {
  return returns.slice(ROLLING_DAYS - 1).map(({ startAt }, index) => {
    const window = returns.slice(index, index + ROLLING_DAYS).map(({ value }) => value)
    return { startAt, value: mean(window) / deviation(window) }
  })
}

export function computeRatios(input: MetricsInput): readonly Ratio[] {
  return [...ratiosOfReturns(input), ...ratiosOfRisk(input), ...ratiosOfTrades(input)]
}

function ratiosOfReturns({ opening, final, fromAt, toAt, equity }: MetricsInput): readonly Ratio[] {
  const days = (toAt - fromAt) / DAY_MS
  const returns = toDayReturns(equity.days, opening).map(({ value }) => value)
  const isLong = days >= ANNUALISED_FROM_DAYS
  const yearly = isLong ? Math.sqrt(DAYS_A_YEAR) : 1
  const scale = isLong ? ` * sqrt(${DAYS_A_YEAR})` : ''
  const note = isLong ? {} : { note: `per day; ${UNDER_90}` }
  const growth = isLong && final > 0 ? (final / opening) ** (DAYS_A_YEAR / days) - 1 : Number.NaN
  const depth = equity.drawdowns[0]?.depth ?? 0
  return [
    ratio('total return', {
      value: final / opening - 1,
      unit: 'share',
      formula: 'final equity / opening equity - 1',
    }),
    ratio('yearly growth', {
      value: growth,
      unit: 'share',
      formula: `(final / opening) ^ (${DAYS_A_YEAR} / days) - 1`,
      ...(isLong ? {} : { note: UNDER_90 }),
    }),
    ratio('volatility', {
      value: deviation(returns) * yearly,
      unit: 'share',
      formula: `sd(daily returns)${scale}`,
      ...note,
    }),
    ratio('Sharpe', {
      value: (mean(returns) / deviation(returns)) * yearly,
      unit: 'number',
      ...note,
      formula: `mean(daily returns) / sd(daily returns)${scale}; risk-free rate 0`,
    }),
    ratio('Sortino', {
      // A single return would give -1 or nothing, whatever it is.
      value:
        returns.length < 2 ? Number.NaN : (mean(returns) / downsideDeviation(returns)) * yearly,
      unit: 'number',
      ...note,
      formula: `mean(daily returns) / sqrt(mean(min(daily return, 0)^2))${scale}`,
    }),
    ratio('Calmar', {
      value: growth / depth,
      unit: 'number',
      formula: 'yearly growth / deepest drawdown',
      ...(isLong ? {} : { note: UNDER_90 }),
    }),
  ]
}

function ratiosOfRisk({ fromAt, toAt, equity, nearestDistance }: MetricsInput): readonly Ratio[] {
  const { drawdowns, underWater, heldMs, exposureMean, exposureMax, nearestLiquidation } = equity
  const totalMs = Math.max(1, toAt - fromAt)
  return [
    ratio('deepest drawdown', {
      value: -(drawdowns[0]?.depth ?? 0),
      unit: 'share',
      formula: 'lowest of equity / its highest before - 1, looked at after every quote',
    }),
    ratio('time under water', {
      value: underWater.totalMs / totalMs,
      unit: 'share',
      formula: 'time below the last peak / length of the run',
    }),
    ratio('longest under water', {
      value: underWater.longestMs / DAY_MS,
      unit: 'days',
      formula: 'from a peak until it is reached again, or the end',
    }),
    ratio('time with a position', {
      value: heldMs / totalMs,
      unit: 'share',
      formula: 'time with any position / length of the run',
    }),
    ratio('mean exposure', {
      value: exposureMean,
      unit: 'share',
      formula: 'value of all positions (long + short) / equity, averaged over time',
    }),
    ratio('highest exposure', {
      value: exposureMax,
      unit: 'share',
      formula: 'the same at its highest',
    }),
    ratio('highest margin ratio', {
      value: nearestLiquidation.marginUse,
      unit: 'share',
      formula:
        'highest of (maintenance margin + closing fee) / equity behind it; at 100 % the exchange liquidates',
    }),
    ratio('nearest to liquidation', {
      value: nearestDistance,
      unit: 'share',
      formula:
        'least distance from the mark price to the price that liquidates, at each reading of a position',
    }),
  ]
}

function ratiosOfTrades({ fromAt, toAt, equity, trips, traded }: MetricsInput): readonly Ratio[] {
  const days = Math.max(1, (toAt - fromAt) / DAY_MS)
  const { gains, losses } = trips
  const noTrips = trips.trips === 0 ? { note: 'no position was closed' } : {}
  const turnover = traded / equity.equityMean
  return [
    ratio('positions closed', {
      value: trips.trips,
      unit: 'number',
      formula: 'from flat to flat, of one strategy on one instrument',
    }),
    ratio('winners', {
      value: trips.wins / trips.trips,
      unit: 'share',
      formula: 'closed with a profit after fees, funding not counted / closed',
      ...noTrips,
    }),
    ratio('profit factor', {
      value: gains / losses,
      unit: 'number',
      formula: 'sum of the winners / sum of the losers, after fees, funding not counted',
      ...(losses === 0 && trips.trips > 0 ? { note: 'no position lost' } : noTrips),
    }),
    ratio('expectancy', {
      value: (gains - losses) / trips.trips,
      unit: 'money',
      formula: 'mean profit of a closed position after fees, funding not counted',
      ...noTrips,
    }),
    ratio('turnover', {
      value: turnover,
      unit: 'number',
      formula: 'price times size of all fills / mean equity',
    }),
    ratio('turnover a day', { value: turnover / days, unit: 'number', formula: 'turnover / days' }),
  ]
}

function ratio(
  name: string,
  given: Omit<Ratio, 'name' | 'value'> & { readonly value: number },
): Ratio {
  const value = Number.isFinite(given.value) ? given.value : null
  return { name, ...given, value }
}
