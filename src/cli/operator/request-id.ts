import { systemClock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'

const RANDOM_BYTES = 6

/** Begins with the time, Unix ms, so that a daemon refuses one that it may have forgotten. */
export function newRequestId(): string {
  return `${systemClock.now()}-${randomHex(RANDOM_BYTES)}`
}
