import { createRandom } from '../../lib/random.ts'
import type { ServicePorts } from '../services/service-ports.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Standard deviation of a day's return: 2.5 %. */
const DAILY_VOLATILITY = 0.025
/** A little less than the histories reach, so that the whole past is still to be read for two days. */
const DAYS = 88

export interface PastMoment {
  /** Unix ms; an hour before the exchange's first start, or more. */
  readonly at: number
  /** What a coin cost then, as a share of what it costs now. */
  readonly priceRatio: number
}

/** So many moments spread over the past, oldest first. @param name Other moments under each. */
export function pastMoments(
  { seed, startAt }: ServicePorts,
  name: string,
  count: number,
): PastMoment[] {
  const random = createRandom(`${seed}/${name}`)
  const gapMs = (DAYS * DAY_MS - HOUR_MS) / count
  const deviation = DAILY_VOLATILITY * Math.sqrt(gapMs / DAY_MS)
  let priceRatio = 1
  return Array.from({ length: count }, (_, index) => {
    const at = startAt - HOUR_MS - Math.floor(gapMs * (index + random.next()))
    priceRatio *= 1 + deviation * random.normal()
    return { at, priceRatio }
  }).reverse()
}
