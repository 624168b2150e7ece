import { inParallel } from '../lib/in-parallel.ts'
import type { Trial, TrialOutcome } from '../sweep/trial.ts'
import type { TrialOrder } from './play-trial.ts'
import { TrialPool } from './trial-pool.ts'

/** Trials that can run concurrently. */
export interface TrialRound {
  readonly trials: readonly Trial[]
  readonly orderOf: (trial: Trial) => TrialOrder
  readonly hear: (trial: Trial, outcome: TrialOutcome) => void
  readonly stop: AbortSignal
}

export interface TrialRunner {
  /** Resolves when each was reported, or the round was ended. */
  run(round: TrialRound): Promise<void>
  /** Names the workers beside the progress; empty for this process. */
  describe(): string
  close(): Promise<void>
}

/**
 * @param jobs concurrent trials
 * @param limitMs real time of one
 */
export function runHere(jobs: number, limitMs: number): TrialRunner {
  const pool = new TrialPool()
  return {
    run: ({ trials, orderOf, hear, stop }) =>
      inParallel(trials, jobs, async (trial) => {
        if (stop.aborted) return
        const answer = await pool.run(orderOf(trial), limitMs, stop)
        if (answer === undefined) return
        hear(trial, 'refused' in answer ? { failed: answer.refused } : answer)
      }),
    describe: () => '',
    close: () => pool.close(),
  }
}
