import { createRandom } from '../../lib/random.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Standard deviation of a day's return: 2.5 %. */
const DAILY_VOLATILITY = 0.025

export interface PastMoment {
  /** Unix ms. */
  readonly at: number
  /** What a coin cost then, as a share of what it costs now. */
  readonly priceRatio: number
}

export interface PastSpan {
  readonly seed: string
  readonly count: number
  readonly days: number
  /** Unix ms; the last moment is an hour before it or more. */
  readonly endAt: number
}

/** So many moments spread over so many days, oldest first. */
export function pastMoments({ seed, count, days, endAt }: PastSpan): PastMoment[] {
  const random = createRandom(seed)
  const gapMs = (days * DAY_MS - HOUR_MS) / count
  const deviation = DAILY_VOLATILITY * Math.sqrt(gapMs / DAY_MS)
  let priceRatio = 1
  return Array.from({ length: count }, (_, index) => {
    const at = endAt - HOUR_MS - Math.floor(gapMs * (index + random.next()))
    priceRatio *= 1 + deviation * random.normal()
    return { at, priceRatio }
  }).reverse()
}
