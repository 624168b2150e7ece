import { inParallel } from '../lib/in-parallel.ts'
import type { Trial, TrialOutcome } from '../sweep/trial.ts'
import type { TrialOrder } from './play-trial.ts'
import { runTrial } from './trial-pool.ts'

/** Trials that can be run at the same time, and who hears what came of each. */
export interface TrialRound {
  readonly trials: readonly Trial[]
  /** What a thread is given for it. */
  readonly orderOf: (trial: Trial) => TrialOrder
  readonly hear: (trial: Trial, outcome: TrialOutcome) => void
  /** Ends the round early. */
  readonly stop: AbortSignal
}

/** Where the trials of a sweep are computed. */
export interface TrialRunner {
  /** Until each was heard of, or the round was ended. */
  run(round: TrialRound): Promise<void>
  /** Beside the progress: who computes. Empty where that is this process. */
  describe(): string
  close(): Promise<void>
}

/** In threads of this process. @param jobs At a time. @param limitMs Real time of one. */
export function runHere(jobs: number, limitMs: number): TrialRunner {
  return {
    run: ({ trials, orderOf, hear, stop }) =>
      inParallel(trials, jobs, async (trial) => {
        if (stop.aborted) return
        const answer = await runTrial(orderOf(trial), limitMs, stop)
        if (answer === undefined) return
        hear(trial, 'refused' in answer ? { failed: answer.refused } : answer)
      }),
    describe: () => '',
    close: () => Promise.resolve(),
  }
}
