/** Where the time comes from. Instants are Unix milliseconds; nothing below the daemon's shell reads a clock. */
export interface Clock {
  /** Unix ms, whole. */
  now(): number
  /** Milliseconds with fractions since an arbitrary origin; never steps. For measuring durations. */
  monotonic(): number
}

/**
 * The machine's own. It may be set at any time: what lives longer than a moment asks a `SteadyClock`.
 * `Date.now` is looked up at each call, so that a test's preload can set the clock of a whole process.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/**
 * A clock that agrees with another one now and never steps afterwards, whatever becomes of that one: waits and
 * deadlines measured with it last as long as they say. How far it is from the exchange's is measured anyway.
 */
export function createSteadyClock(clock: Clock): Clock {
  const startedAt = clock.now()
  const origin = clock.monotonic()
  return {
    now: () => startedAt + Math.floor(clock.monotonic() - origin),
    monotonic: () => clock.monotonic(),
  }
}
