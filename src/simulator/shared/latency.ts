import { exponential, type Random } from '../../lib/random.ts'

/** With deviation 0.5, one in a hundred is 3.2 times the median. */
export interface LatencySettings {
  readonly medianMs: number
  /** Deviation of the logarithm; 0 always gives the median. */
  readonly deviation: number
}

export const NO_LATENCY: LatencySettings = { medianMs: 0, deviation: 0 }

const DEVIATIONS_MAX = 2.8

export function drawLatency({ medianMs, deviation }: LatencySettings, random: Random): number {
  if (medianMs === 0 || deviation === 0) return medianMs
  const level = Math.max(-DEVIATIONS_MAX, Math.min(DEVIATIONS_MAX, random.normal()))
  return Math.round(medianMs * exponential(deviation * level))
}
