import { systemClock } from '../lib/clock.ts'

/** A signal that comes twice within this time was sent once: to the process, and to its group or launcher. */
const SAME_SIGNAL_MS = 250

/** 128 + SIGINT. What was sent is in the journal, and the next start recovers it. */
const EXIT_INTERRUPTED = 130

/** The first signal stops in good order, a later one at once. Returns how to stop listening. */
export function onStopSignals(stop: (why: string) => void): () => void {
  let stoppedAt: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic()
    if (stoppedAt === undefined) {
      stoppedAt = now
      stop(signal)
    } else if (now - stoppedAt > SAME_SIGNAL_MS) {
      process.exit(EXIT_INTERRUPTED)
    }
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return () => {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
  }
}
