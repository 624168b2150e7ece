import { systemClock } from './clock.ts'
import { systemTimers } from './timers.ts'

/** Node fires a timer of more than 24.8 days at once. */
const STEP_MS = 86_400_000

export function atInstant(at: number, callback: () => void): () => void {
  let cancel = (): void => undefined
  const wait = (): void => {
    const delayMs = at - systemClock.now()
    cancel =
      delayMs > STEP_MS ? systemTimers.after(STEP_MS, wait) : systemTimers.after(delayMs, callback)
  }
  wait()
  return () => cancel()
}
