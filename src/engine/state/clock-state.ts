import { own } from '../../lib/own.ts'
import { announce, type Core } from './core.ts'

/** A measurement of the exchange's clock counts for so long. */
const MEASURED_WITHIN_MS = 60_000

/** The exchange's clock as we know it, Unix ms. */
export function exchangeNow(core: Core): number {
  return core.now + (core.clock.offsetMs ?? 0)
}

/**
 * Why no order may leave now because of the clocks; undefined where it may. The signature of an order, its acceptance
 * deadline and its idempotency window all need the exchange's clock. Cancel-alls and reads go on: they do no harm when
 * they are late, and the reads measure the clock again.
 */
export function clockUnsynchronised({ clock, now }: Core): string | undefined {
  if (clock.unsynchronised !== undefined) return clock.unsynchronised
  if (clock.offsetMs === undefined) return "the exchange's clock was never measured"
  const ageMs = now - clock.synchronisedAt
  return ageMs <= MEASURED_WITHIN_MS ? undefined : `the exchange's clock was measured ${ageMs} ms ago`
}

/** The offset of the exchange's clock was measured, without contradiction. */
export function noteClockSynchronised(core: Core, offsetMs: number): void {
  const clock = own(core.clock)
  if (clock.unsynchronised !== undefined) {
    announce(core, 'info', 'clock.synchronised', { offsetMs, was: clock.offsetMs })
  }
  clock.offsetMs = offsetMs
  clock.synchronisedAt = core.now
  clock.unsynchronised = undefined
}

/** A clock jumped, or answers contradict each other. No order leaves before the next measurement without contradiction. */
export function noteClockUnsynchronised(core: Core, reason: string): void {
  const clock = own(core.clock)
  // Before the first measurement no order leaves anyway.
  if (clock.offsetMs === undefined) return
  if (clock.unsynchronised === undefined) announce(core, 'warn', 'clock.unsynchronised', { reason })
  clock.unsynchronised = reason
}
