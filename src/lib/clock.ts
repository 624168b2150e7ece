/** Where the time comes from. Instants are Unix milliseconds; nothing below the daemon reads a clock. */
export interface Clock {
  /** Unix ms, whole. */
  now(): number
  /** Milliseconds with fractions since an arbitrary origin; never steps. For measuring durations. */
  monotonic(): number
}

/**
 * The machine's own. It may be set at any time: what lasts longer than a moment asks a `SteadyClock`.
 * `Date.now` is looked up at each call, so that a test's preload can set the clock of a whole process.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
