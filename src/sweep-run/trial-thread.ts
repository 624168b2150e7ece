/**
 * Each trial has a thread, so that strategies of one trial see nothing of another, and an endless
 * one can be ended.
 */
import { runTask } from '../lib/supervised-thread.ts'
import { roundNumbers } from '../report/round-numbers.ts'
import { guardFiles } from '../strategy/isolation/guard-files.ts'
import { CandleTapes } from '../simulator/market/recorded/candle-tape.ts'
import { judgeUnopened, playTrial } from './play-trial.ts'
import type { TrialNews, TrialTask } from './trial-pool.ts'

await runTask<TrialTask, TrialNews>(async ({ order, tapes: known }, report) => {
  guardFiles()
  const tapes = new CandleTapes(known, (tape) => report({ kind: 'tape', tape }))
  const outcome = await playTrial(order, tapes).catch((error: unknown) =>
    judgeUnopened(order, error),
  )
  // Rounded as in the log, so that results do not depend on whether they were read from it.
  report({ kind: 'outcome', text: JSON.stringify(outcome, roundNumbers) })
})
