/** One trial in a thread of its own: strategies of one trial see nothing of another, and an endless one can be ended. */
import { runTask } from '../lib/supervised-thread.ts'
import { roundNumbers } from '../report/round-numbers.ts'
import { guardFiles } from '../strategy/isolation/guard-files.ts'
import { judgeUnopened, playTrial, type TrialOrder } from './play-trial.ts'

await runTask<{ readonly order: TrialOrder }, string>(async ({ order }, report) => {
  guardFiles()
  const outcome = await playTrial(order).catch((error: unknown) => judgeUnopened(order, error))
  // What is kept in the log is what is reckoned with, whether it was read from there or not.
  report(JSON.stringify(outcome, roundNumbers))
})
