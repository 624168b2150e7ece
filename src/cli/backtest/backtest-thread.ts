/** A backtest in a thread of its own: one that never comes back can be ended, and signals are heard meanwhile. */
import { enableCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { packError, type PlayMessage, type PlayTask } from './play-message.ts'
import { PlayMarks } from './play-marks.ts'

const { task, cacheDirectory } = workerData as {
  readonly task: PlayTask
  readonly cacheDirectory: string | undefined
}
// The program is loaded behind this alone.
if (cacheDirectory !== undefined) enableCompileCache(cacheDirectory)
const { runBacktest } = await import('./run-backtest.ts')
const post = (message: PlayMessage): void => parentPort?.postMessage(message)
const { config, options, version, shared, isTTY } = task
await runBacktest(config, options, version, { marks: new PlayMarks(shared), post, isTTY }).catch(
  (error: unknown) => post({ kind: 'failed', error: packError(error) }),
)
