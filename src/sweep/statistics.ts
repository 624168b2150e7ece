import { normalQuantile } from '../lib/random.ts'

export interface Moments {
  readonly count: number
  readonly mean: number
  /** Sample deviation, n - 1. */
  readonly deviation: number
  /** The third moment over the cube of the deviation; 0 for a normal distribution. */
  readonly skewness: number
  /** The fourth moment over the square of the variance; 3 for a normal distribution. */
  readonly kurtosis: number
}

export function momentsOf(values: readonly number[]): Moments {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const central = (power: number): number =>
    values.reduce((sum, value) => sum + (value - mean) ** power, 0) / count
  const variance = central(2)
  return {
    count,
    mean,
    deviation: Math.sqrt((variance * count) / (count - 1)),
    skewness: variance > 0 ? central(3) / variance ** 1.5 : 0,
    kurtosis: variance > 0 ? central(4) / variance ** 2 : 3,
  }
}

/** The mean over the deviation, per period; 0 if nothing moved. */
export function sharpeOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const { mean, deviation } = momentsOf(values)
  return deviation > 0 ? mean / deviation : 0
}

const EULER_GAMMA = 0.5772156649015329

/**
 * The largest Sharpe ratio to be expected of this many worthless tries (Bailey and López de Prado, The
 * Deflated Sharpe Ratio, 2014).
 * @param variance of the tries' Sharpe ratios, per period as the result
 */
export function expectedMaxSharpe(variance: number, tries: number): number {
  if (tries < 2) return 0
  return (
    Math.sqrt(variance) *
    ((1 - EULER_GAMMA) * normalQuantile(1 - 1 / tries) +
      EULER_GAMMA * normalQuantile(1 - 1 / (tries * Math.E)))
  )
}

/**
 * The probability, 0 to 1, that a Sharpe ratio is truly above another, given length, skewness and
 * kurtosis of its returns.
 */
export function probabilityAbove(
  sharpe: number,
  other: number,
  { count, skewness, kurtosis }: Pick<Moments, 'count' | 'skewness' | 'kurtosis'>,
): number {
  const spread = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2
  return normalShare(
    ((sharpe - other) * Math.sqrt(count - 1)) / Math.sqrt(Math.max(spread, Number.EPSILON)),
  )
}

/** The share of a normal distribution below a value, to 1e-7, by erfc of Numerical Recipes. */
export function normalShare(value: number): number {
  const z = Math.abs(value) / Math.SQRT2
  const t = 1 / (1 + 0.5 * z)
  const sum = ERFC.reduceRight((total, coefficient) => coefficient + t * total, 0)
  const above = 0.5 * t * Math.exp(-z * z + sum)
  return value > 0 ? 1 - above : above
}

const ERFC = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
]

export interface Overfitting {
  /**
   * The share of halvings in which the best of one half was below the median of the other. Near 0.5
   * the choice is chance.
   */
  readonly probability: number
  readonly blocks: number
  readonly combinations: number
}

/** 12,870 ways to halve them; for very many trials 924, so that it takes seconds. */
const BLOCKS_MAX = 16
const BLOCKS_OF_MANY = 12
const MANY_TRIALS = 500
const BLOCK_PERIODS_MIN = 2

/**
 * Probability of backtest overfitting (Bailey, Borwein, López de Prado and Zhu, 2017): for each way
 * to choose half of the blocks of time, the best trial there is ranked in the other half.
 *
 * @param returns one row per trial, all over the same periods
 * @returns undefined for fewer than two trials, or too few periods
 */
export function overfittingOf(returns: readonly (readonly number[])[]): Overfitting | undefined {
  const periods = returns[0]?.length ?? 0
  const blocksMax = returns.length > MANY_TRIALS ? BLOCKS_OF_MANY : BLOCKS_MAX
  const blocks = Math.min(blocksMax, Math.floor(periods / BLOCK_PERIODS_MIN / 2) * 2)
  if (returns.length < 2 || blocks < 4) return undefined
  const sums = returns.map((row) => sumBlocks(row, blocks))
  let [combinations, below] = [0, 0]
  // The complement is counted as well, so both directions count.
  for (const half of listHalves(blocks).filter((bits) => (bits & 1) === 1)) {
    const one = sums.map((row) => sharpeOfBlocks(row, half))
    const other = sums.map((row) => sharpeOfBlocks(row, ~half))
    combinations += 2
    below += isBelowMedian(one, other) + isBelowMedian(other, one)
  }
  return { probability: below / combinations, blocks, combinations }
}

function isBelowMedian(inside: readonly number[], outside: readonly number[]): number {
  let best = 0
  for (let trial = 1; trial < inside.length; trial++) {
    if ((inside[trial] as number) > (inside[best] as number)) best = trial
  }
  const chosen = outside[best] as number
  let [worse, better] = [0, 0]
  for (const value of outside) {
    if (value < chosen) worse += 1
    else if (value > chosen) better += 1
  }
  return worse < better ? 1 : worse > better ? 0 : 0.5
}

function sumBlocks(values: readonly number[], blocks: number): Float64Array {
  const sums = new Float64Array(blocks * 3)
  for (const [index, value] of values.entries()) {
    const block = Math.floor((index * blocks) / values.length) * 3
    sums[block] = (sums[block] as number) + 1
    sums[block + 1] = (sums[block + 1] as number) + value
    sums[block + 2] = (sums[block + 2] as number) + value * value
  }
  return sums
}

function sharpeOfBlocks(sums: Float64Array, half: number): number {
  let [count, sum, squares] = [0, 0, 0]
  for (let block = 0; block * 3 < sums.length; block++) {
    if ((half & (1 << block)) === 0) continue
    count += sums[block * 3] as number
    sum += sums[block * 3 + 1] as number
    squares += sums[block * 3 + 2] as number
  }
  const variance = (squares - (sum * sum) / count) / (count - 1)
  return variance > 0 ? sum / count / Math.sqrt(variance) : 0
}

function listHalves(blocks: number): readonly number[] {
  return Array.from({ length: 2 ** blocks }, (_, bits) => bits).filter(
    (bits) => countBits(bits) === blocks / 2,
  )
}

function countBits(bits: number): number {
  let count = 0
  for (let left = bits; left > 0; left &= left - 1) count += 1
  return count
}
