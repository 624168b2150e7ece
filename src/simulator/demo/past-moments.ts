import { createRandom } from '../../lib/random.ts'
import type { ServicePorts } from '../services/service-ports.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAILY_VOLATILITY = 0.025
/** Histories reach further back, so the whole past stays readable for two days. */
const DAYS = 88

export interface PastMoment {
  readonly at: number
  readonly priceRatio: number
}

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
