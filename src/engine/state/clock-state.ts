import { own } from '../../lib/own.ts'
import { announce, type Core } from './core.ts'

/** A measurement of the exchange's clock counts for so long. */
const MEASURED_WITHIN_MS = 60_000
/** How long no batch leaves after one was refused for its time, in ms; it doubles up to the maximum. */
const REFUSED_MS = 1000
const REFUSED_MS_MAX = 60_000

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
  if (now < clock.refusedUntil) {
    const restS = Math.ceil((clock.refusedUntil - now) / 1000)
    return `the exchange refuses the time of orders (${clock.refused}), ${clock.refusals} in a row; the next one leaves in ${restS} s`
  }
  if (clock.offsetMs === undefined) return "the exchange's clock was never measured"
  if (clock.synchronisedAt === 0) return 'no signed answer has told the time of the exchange yet'
  const ageMs = now - clock.synchronisedAt
  return ageMs <= MEASURED_WITHIN_MS
    ? undefined
    : `the exchange's clock was measured ${ageMs} ms ago`
}

/** Public answers tell the exchange's clock, and no signed one has yet: reads need no more, and no order leaves. */
export function noteClockMeasured(core: Core, offsetMs: number): void {
  own(core.clock).offsetMs = offsetMs
}

/** The offset of the exchange's clock was measured by signed answers, without contradiction. */
export function noteClockSynchronised(core: Core, offsetMs: number): void {
  const clock = own(core.clock)
  if (clock.unsynchronised !== undefined) {
    announce(core, 'info', 'clock.synchronised', { offsetMs, was: clock.offsetMs })
  }
  clock.offsetMs = offsetMs
  clock.synchronisedAt = core.now
  clock.unsynchronised = undefined
}

/**
 * The exchange refused the time of a batch. Its orders are queued again, and would be refused again as long as nothing has
 * changed: the next one leaves after a second, then after twice as long each time, up to a minute.
 */
export function noteBatchClockRefused(core: Core, code: string): void {
  const clock = own(core.clock)
  clock.refusals += 1
  clock.refused = code
  clock.refusedUntil = core.now + Math.min(REFUSED_MS_MAX, REFUSED_MS * 2 ** (clock.refusals - 1))
}

/** The exchange has looked at the orders of a batch, so it has accepted its time. */
export function noteBatchClockAccepted({ clock }: Core): void {
  if (clock.refusals > 0) own(clock).refusals = 0
}

/** A clock jumped, or answers contradict each other. No order leaves before the next measurement without contradiction. */
export function noteClockUnsynchronised(core: Core, reason: string): void {
  const clock = own(core.clock)
  // Before the first measurement no order leaves anyway.
  if (clock.offsetMs === undefined) return
  if (clock.unsynchronised === undefined) announce(core, 'warn', 'clock.unsynchronised', { reason })
  clock.unsynchronised = reason
}
