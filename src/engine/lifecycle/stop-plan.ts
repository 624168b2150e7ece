import { type StopPolicy } from '../event.ts'

/**
 * How a stop goes on, by its policy.
 *
 *     leave:    draining ──────────────────────────────────────────► proving ──► stopped
 *     cancel:   draining ──► cancelling ──► confirming ────────────► proving ──► stopped
 *     flatten:  draining ──► cancelling ──► confirming ──► flattening ► proving ──► stopped
 *
 * `draining` waits for what is on the wire · `cancelling` until nothing of ours rests · `confirming` for a
 * second cancel-all that finds nothing (RSK3) · `flattening` until no strategy holds anything · `proving`
 * for fills and positions that were read after all that, and agree.
 */
export type StopPhase = 'draining' | 'cancelling' | 'confirming' | 'flattening' | 'proving'

export interface StopPlan {
  readonly policy: StopPolicy
  startedAt: number
  phase: StopPhase
  /** Unix ms, our clock: readings that are asked for so much later prove the end. */
  provingAt: number
  /** Instruments on which a cancel-all was spent, and that must be asked again. */
  readonly cancelled: Set<string>
  /** Whether a cancel-all of this phase still found something. */
  hasFound: boolean
  askedAt: number
  /** Something was on the wire, or a instrument was being proved, since `proving` began. */
  wasBusy: boolean
}
