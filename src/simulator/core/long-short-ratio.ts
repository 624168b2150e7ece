import { createRandom } from '../../lib/random.ts'
import { type ResponseOf } from '../../protocol/endpoints.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Neighbouring points share this many draws, so that the series wanders instead of jumping. */
const DRAWS = 12
const DEVIATION = 0.12

/**
 * The series of long accounts for each short one: an hourly point of the last 24 hours, or a daily one of
 * the last 30 days, oldest first. Each point follows from seed, symbol and its time alone.
 */
export function longShortSeries(options: {
  readonly seed: string | number
  readonly symbol: string
  readonly period: '24h' | '30d'
  readonly now: number
}): ResponseOf<'longShortRatio'> {
  const { seed, symbol, period, now } = options
  const [stepMs, count] = period === '24h' ? [HOUR_MS, 24] : [DAY_MS, 30]
  const latest = Math.floor(now / stepMs)
  return Array.from({ length: count }, (_, index) => {
    const slot = latest - (count - 1 - index)
    return {
      ts: String(slot * stepMs),
      longShortRatio: ratioAt(`${seed}/${symbol}/${period}`, slot).toFixed(4),
    }
  })
}

function ratioAt(stream: string, slot: number): number {
  let sum = 0
  for (let back = 0; back < DRAWS; back++) sum += createRandom(`${stream}/${slot - back}`).normal()
  return Math.max(0.2, 1 + (DEVIATION * sum) / Math.sqrt(DRAWS))
}
