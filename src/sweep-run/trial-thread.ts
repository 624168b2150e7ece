/** Each trial evaluates its strategies' code anew, so that it sees nothing of another. */
import { hearPosted, runTask } from '../lib/supervised-thread.ts'
import { roundNumbers } from '../report/round-numbers.ts'
import { beginGeneration, countGenerations, isCodeKept } from '../strategy/resolve-contract.ts'
import { areFilesClosed, guardFiles, hasOwnGlobals } from '../strategy/isolation/guard-thread.ts'
import { CandleTapes } from '../simulator/market/recorded/candle-tape.ts'
import { judgeUnopened, playTrial } from './play-trial.ts'
import type { TrialNews, TrialTask } from './trial-pool.ts'

await runTask<object, TrialNews>((_, report) => {
  guardFiles()
  countGenerations()
  return hearPosted<TrialTask>((task) => void play(task, report))
})

async function play(
  { order, tapes: known }: TrialTask,
  report: (news: TrialNews) => void,
): Promise<void> {
  const tapes = new CandleTapes(known, (tape) => report({ kind: 'tape', tape }))
  const outcome = await playTrial(order, tapes).catch((error: unknown) =>
    judgeUnopened(order, error),
  )
  beginGeneration()
  // Figures are rounded as in the log, so that a continued sweep gives the same results.
  const text = JSON.stringify(outcome, roundNumbers)
  report({ kind: 'outcome', text, isClean: isClean() })
}

/** Unknown after code that may do everything. */
function isClean(): boolean {
  return areFilesClosed() && !isCodeKept() && !hasOwnGlobals()
}
