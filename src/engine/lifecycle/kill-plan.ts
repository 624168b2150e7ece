/**
 * What a kill does, from the moment it is heard. It is done when it is proved (RSK3), and stands until an
 * operator releases it, over any number of restarts (RSK2).
 *
 *     cutting ──► draining ──► clearing ──► waiting ──► confirming ──► proving ──► clean
 *                                  ▲                         │            │
 *                                  └──────found something────┴─something──┘
 *                                                              moved
 *
 * `cutting` cancels everything at once, whatever is on the wire · `draining` until every call of ours is
 * answered or given up · `clearing` until nothing of ours rests or is unknown · `waiting` until no creating
 * request that ever left can be accepted any more · `confirming` by a cancel-all that finds nothing ·
 * `proving` by two complete readings of fills and positions that agree · `clean`.
 */
export type KillPhase = 'cutting' | 'draining' | 'clearing' | 'waiting' | 'confirming' | 'proving' | 'clean'

export interface KillPlan {
  phase: KillPhase
  /** Whether a cancel-all of this phase still found something. */
  hasFound: boolean
  /** Unix ms, our clock: the present round of `proving` began; and how many in a row saw the same. */
  roundAt: number
  rounds: number
  /** What the account held and how far its fills were known in the last round. */
  seen: string
  /** Unix ms, our clock: after this somebody is told that it takes long. */
  patientUntil: number
  /** An orderly stop that was asked for meanwhile (Unix ms, our clock). */
  stopAskedAt: number | undefined
  /** A release that was asked for before all was proved. */
  release: KillOrder | undefined
}

/** Who throws the kill switch, or releases it, and why. */
export interface KillOrder {
  readonly reason: string
  readonly by: string
}

/** `patienceMs`: how long it may take before somebody is told. */
export function createKillPlan(now: number, patienceMs: number): KillPlan {
  return {
    phase: 'cutting',
    hasFound: false,
    roundAt: 0,
    rounds: 0,
    seen: '',
    patientUntil: now + patienceMs,
    stopAskedAt: undefined,
    release: undefined,
  }
}
