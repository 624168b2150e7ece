import process from 'node:process'
import { systemClock } from './clock.ts'

/** A signal may reach the process, and its group or launcher. */
const SAME_SIGNAL_MS = 250

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * A second signal ends the process at once: the journal has what was sent. @returns how to stop
 * listening
 */
export function onStopSignals(stop: (why: string) => void): () => void {
  let stoppedAt: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic()
    if (stoppedAt === undefined) {
      stoppedAt = now
      stop(signal)
    } else if (now - stoppedAt > SAME_SIGNAL_MS) {
      for (const name of SIGNALS) process.removeAllListeners(name)
      process.kill(process.pid, signal)
    }
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return () => {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
}
