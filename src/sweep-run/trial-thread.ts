/** One trial in a thread of its own: strategies of one trial see nothing of another, and an endless one can be ended. */
import { parentPort, workerData } from 'node:worker_threads'
import { roundNumbers } from '../report/round-numbers.ts'
import { guardFiles } from '../strategy/isolation/guard-files.ts'
import { judgeUnopened, playTrial, type TrialOrder } from './play-trial.ts'

guardFiles()
const { order } = workerData as { readonly order: TrialOrder }
const outcome = await playTrial(order).catch((error: unknown) => judgeUnopened(order, error))
// What is kept in the log is what is reckoned with, whether it was read from there or not.
parentPort?.postMessage(JSON.stringify(outcome, roundNumbers))
