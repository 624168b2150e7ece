/** A restricted thread asks the strategies which values they accept. */
import { runTask } from '../lib/supervised-thread.ts'
import { listParamSets } from '../sweep/param-sets.ts'
import { guardFiles } from '../strategy/isolation/guard-thread.ts'
import { PLAY_ERRORS } from '../backtest/playing/thread-protocol.ts'
import {
  assertValuesAccepted,
  loadSweepFile,
  type AcceptedValuesTask,
} from './sweep-file-problems.ts'

await runTask<AcceptedValuesTask, never>(async (task) => {
  guardFiles()
  const read = loadSweepFile(task.options.params)
  await assertValuesAccepted(read, listParamSets(read.file), task)
}, PLAY_ERRORS)
