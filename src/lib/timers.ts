/** Tests and backtests move time, so nothing else sleeps. */
export interface Timers {
  /** @returns cancels the call */
  after(delayMs: number, callback: () => void): () => void
}

/** Node's timers fire at once after longer delays (2^31 - 1 ms). */
const DELAY_MS_MAX = 2_147_483_647

export const systemTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), DELAY_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/**
 * The callback runs after what the sockets have brought until now, before the next look at them.
 */
export function inNextTurn(callback: () => void): void {
  setImmediate(callback)
}
