import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'

export interface TickingOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly stepMs: number
  readonly tick: (now: number) => void
}

/**
 * At whole multiples of `stepMs` of the clock; missed ones are skipped. @returns a function that
 * stops it
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
