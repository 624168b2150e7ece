import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'

export interface TickingOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly stepMs: number
  readonly tick: (now: number) => void
}

/**
 * Ticks at each whole multiple of `stepMs` of the clock, so a late wake-up does not delay later
 * ones. Missed multiples are skipped. @returns a function that stops it
 */
export function startTicking({ clock, timers, stepMs, tick }: TickingOptions): () => void {
  let cancel = () => {}
  let stopped = false
  const wait = () => {
    const now = clock.now()
    cancel = timers.after(stepMs - (now % stepMs), () => {
      tick(clock.now())
      if (!stopped) wait()
    })
  }
  wait()
  return () => {
    stopped = true
    cancel()
  }
}
