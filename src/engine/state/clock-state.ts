import { own } from '../../lib/own.ts'
import { announce, type Core } from './core.ts'

/** After so long without a measurement the exchange's clock is a guess. */
const MEASURED_WITHIN_MS = 60_000

/** The exchange's clock as we know it, Unix ms. */
export function exchangeNow(core: Core): number {
  return core.now + (core.clock.offsetMs ?? 0)
}

/**
 * Why nothing that creates orders may leave just now, or undefined. Everything about an order hangs on the
 * exchange's clock: its signature, its acceptance deadline, its idempotency window. Cancel-alls and reads go on: they do no
 * harm when they are late, and reads are what measures the clock again.
 */
export function clockUnsynchronised({ clock, now }: Core): string | undefined {
  if (clock.unsynchronised !== undefined) return clock.unsynchronised
  if (clock.offsetMs === undefined) return "the exchange's clock was never measured"
  const ageMs = now - clock.synchronisedAt
  return ageMs <= MEASURED_WITHIN_MS ? undefined : `the exchange's clock was measured ${ageMs} ms ago`
}

/** The offset of the exchange's clock was measured, and nothing contradicts it. */
export function noteClockSynchronised(core: Core, offsetMs: number): void {
  const clock = own(core.clock)
  if (clock.unsynchronised !== undefined) {
    announce(core, 'info', 'clock.synchronised', { offsetMs, was: clock.offsetMs })
  }
  clock.offsetMs = offsetMs
  clock.synchronisedAt = core.now
  clock.unsynchronised = undefined
}

/** A clock jumped, or answers contradict each other: no order leaves before the next certain measurement. */
export function noteClockUnsynchronised(core: Core, reason: string): void {
  const clock = own(core.clock)
  // Before the first measurement nothing leaves anyway.
  if (clock.offsetMs === undefined) return
  if (clock.unsynchronised === undefined) announce(core, 'warn', 'clock.unsynchronised', { reason })
  clock.unsynchronised = reason
}
