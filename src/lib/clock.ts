/** Where the time comes from. Instants are Unix milliseconds; nothing below the daemon's shell reads a clock. */
export interface Clock {
  /** Unix ms, whole. */
  now(): number
  /** Milliseconds with fractions since an arbitrary origin; never steps. For measuring durations. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
