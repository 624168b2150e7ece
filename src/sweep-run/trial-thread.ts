/**
 * Each trial has a thread, so that strategies of one trial see nothing of another, and an endless
 * one can be ended.
 */
import { runTask } from '../lib/supervised-thread.ts'
import { roundNumbers } from '../report/round-numbers.ts'
import { guardFiles } from '../strategy/isolation/guard-files.ts'
import { judgeUnopened, playTrial, type TrialOrder } from './play-trial.ts'

await runTask<{ readonly order: TrialOrder }, string>(async ({ order }, report) => {
  guardFiles()
  const outcome = await playTrial(order).catch((error: unknown) => judgeUnopened(order, error))
  // Rounded as in the log, so that results do not depend on whether they were read from it.
  report(JSON.stringify(outcome, roundNumbers))
})
