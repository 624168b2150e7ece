import { createRandom, exponential } from '../../lib/random.ts'

/** Standard deviation of a day's return: 2.5 %. */
const DAILY_VOLATILITY = 0.025
const DAY_MS = 86_400_000

interface PastPath {
  readonly seed: string
  /** The price at the end of the path. */
  readonly last: number
  /** Unix ms. */
  readonly endAt: number
}

/**
 * Prices at past instants, such that the path ends at the last price.
 * @param times Unix ms, ascending, before the path's end.
 */
export function pastPrices(times: readonly number[], { seed, last, endAt }: PastPath): number[] {
  const random = createRandom(seed)
  const prices = Array.from({ length: times.length }, () => last)
  let price = last
  let at = endAt
  for (let index = times.length - 1; index >= 0; index--) {
    const time = times[index] ?? at
    price *= exponential(-DAILY_VOLATILITY * Math.sqrt(Math.max(0, at - time) / DAY_MS) * random.normal())
    prices[index] = price
    at = time
  }
  return prices
}

/** Ascending instants, spread over the days before the end, the last at least an hour before it. */
export function pastTimes(seed: string, { count, days, endAt }: PastSpan): number[] {
  const random = createRandom(seed)
  const spanMs = days * DAY_MS - HOUR_MS
  const times = Array.from({ length: count }, () => endAt - HOUR_MS - Math.floor(random.next() * spanMs))
  return times.sort((one, other) => one - other)
}

const HOUR_MS = 3_600_000

interface PastSpan {
  readonly count: number
  readonly days: number
  /** Unix ms. */
  readonly endAt: number
}
