import { type OutgoingBatch } from '../engine/effect.ts'

/** What is known right before the first byte of a batch. */
export interface LastCheck {
  /** Unix ms, our clock. */
  readonly now: number
  readonly isClockSynchronised: boolean
  /** Whether the core restricts trading by now. */
  readonly isHeldBack: (batch: OutgoingBatch) => boolean
  /** Looks at the kill switch itself, not at what was heard of it. */
  readonly isKilled: () => boolean
}

export const KILLED = 'the kill switch is thrown'

/** Why a batch must not leave after all (ORD7, RSK2); undefined lets it go. The first byte follows in the same turn. */
export function objectTo(batch: OutgoingBatch, check: LastCheck): string | undefined {
  if (!check.isClockSynchronised) return 'a clock may have jumped: the request could expire too late'
  if (check.now > batch.validUntilAt) return 'the data it was decided on has become stale'
  if (check.isHeldBack(batch)) return 'trading was restricted meanwhile'
  return check.isKilled() ? KILLED : undefined
}
