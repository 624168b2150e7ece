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

/** The process is taken away from the thread of a strategy, which measures all the same. */
const readThreadCpu = process.threadCpuUsage?.bind(process)

/** For how long the calling thread has computed so far, ms; undefined: this Node does not measure it (it does from 23.9 on). */
export function threadCpuMs(): number | undefined {
  const used = readThreadCpu?.()
  return used && (used.user + used.system) / 1000
}
