/** One trial in a thread of its own: strategies of one trial see nothing of another, and an endless one can be ended. */
import { enableCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/failure.ts'
import { roundNumbers } from '../../report/round-numbers.ts'
import { type TrialOutcome } from '../../sweep/trial.ts'
import { type TrialOrder } from './play-trial.ts'

const { order, cacheDirectory } = workerData as {
  readonly order: TrialOrder
  readonly cacheDirectory: string | undefined
}
// Compiling the program again would take a third of a short trial: so it is loaded only behind this.
if (cacheDirectory !== undefined) enableCompileCache(cacheDirectory)
const { playTrial } = await import('./play-trial.ts')
const outcome = await playTrial(order).catch((error: unknown): TrialOutcome => ({ failed: messageOf(error) }))
// What is kept in the log is what is reckoned with, whether it was read from there or not.
parentPort?.postMessage(JSON.stringify(outcome, roundNumbers))
