import { systemClock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'

const RANDOM_BYTES = 6

/** Begins with its time, Unix ms, by which a daemon knows one that it may have forgotten. */
export function newRequestId(): string {
  return `${systemClock.now()}-${randomHex(RANDOM_BYTES)}`
}
