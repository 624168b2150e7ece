import { type Timers } from '../../../src/lib/timers.ts'

/** Whatever is waited for has passed in the next turn. */
export const hastyTimers: Timers = {
  after(_delayMs, callback) {
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  },
}
