import { type OutgoingBatch } from '../../engine/effect.ts'

/** What is known right before the first byte of a batch. */
export interface LastSight {
  /** Unix ms, our clock. */
  readonly now: number
  readonly isClockSynchronised: boolean
  /** Looks at the kill switch itself, not at what was heard of it. */
  readonly isKilled: () => boolean
  /** Whether it adds risk where trading was halted since it was formed. */
  readonly isHalted: (batch: OutgoingBatch) => boolean
}

export const KILLED = 'the kill switch is thrown'

/** Why a batch must not leave after all (ORD7, RSK2); undefined lets it go. The first byte follows in the same turn. */
export function objectTo(batch: OutgoingBatch, sight: LastSight): string | undefined {
  if (!sight.isClockSynchronised) return 'a clock may have jumped: the request could expire too late'
  if (sight.now > batch.validUntilAt) return 'the data it was decided on has become stale'
  if (sight.isHalted(batch)) return 'its instrument was halted meanwhile'
  return sight.isKilled() ? KILLED : undefined
}
