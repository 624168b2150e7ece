import { announce, type Core } from './core.ts'

/** After so long without a measurement the exchange's clock is a guess. Source: the test regime, clock gate. */
const MEASURED_WITHIN_MS = 60_000

/**
 * Why nothing that creates orders may leave just now, or undefined. An order's life hangs on the exchange's
 * clock: its signature, its horizon, its window. Cancel-alls and reads go on: they do no harm when they are
 * late, and reads are what measures the clock again.
 */
export function clockUnsynchronised(core: Core): string | undefined {
  if (core.clockUnsynchronised !== undefined) return core.clockUnsynchronised
  if (core.offsetMs === undefined) return "the exchange's clock was never measured"
  const ageMs = core.now - core.clockMeasuredAt
  return ageMs <= MEASURED_WITHIN_MS ? undefined : `the exchange's clock was measured ${ageMs} ms ago`
}

/** The offset of the exchange's clock is sure: it was measured, and nothing contradicts it. */
export function noteClockSynchronised(core: Core, offsetMs: number): void {
  if (core.clockUnsynchronised !== undefined)
    announce(core, 'info', 'clock.synchronised', { offsetMs, was: core.offsetMs })
  core.offsetMs = offsetMs
  core.clockMeasuredAt = core.now
  core.clockUnsynchronised = undefined
}

/** A clock jumped, or answers contradict each other: the gate is closed until the next sure measurement. */
export function noteClockUnsynchronised(core: Core, reason: string): void {
  // Before the first measurement there is nothing to doubt: the gate is closed anyway.
  if (core.offsetMs === undefined) return
  if (core.clockUnsynchronised === undefined) announce(core, 'warn', 'clock.unsynchronised', { reason })
  core.clockUnsynchronised = reason
}
