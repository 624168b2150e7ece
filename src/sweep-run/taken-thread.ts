/** Asks the strategies of a sweep, in a thread where they reach nothing, which of its values they take. */
import { parentPort, workerData } from 'node:worker_threads'
import { listParamSets } from '../sweep/param-sets.ts'
import { guardFiles } from '../strategy/isolation/guard-files.ts'
import { packError } from '../backtest/playing/play-message.ts'
import { assertTaken, loadSweepFile, type TakenTask } from './sweep-file-problems.ts'

guardFiles()
const task = workerData as TakenTask
const port = parentPort
try {
  const read = loadSweepFile(task.options.params)
  await assertTaken(read, listParamSets(read.file), task)
  port?.postMessage(undefined)
} catch (error) {
  port?.postMessage(packError(error))
}
