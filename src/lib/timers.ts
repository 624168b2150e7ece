/** The one place that sleeps. Everything else is handed a `Timers`, so that tests and backtests move time by hand. */
export interface Timers {
  /** Calls back once after `delayMs`; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

/** Longest delay that Node's timers take before they fire at once instead (2^31 - 1 ms). */
const DELAY_MS_MAX = 2_147_483_647

export const systemTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), DELAY_MS_MAX))
    return () => clearTimeout(timer)
  },
}
