// The thread in which strategy files are loaded before anybody else loads them: one that loops costs this thread alone.

import { parentPort, workerData } from 'node:worker_threads'
import { loadStrategy } from '../load-strategy.ts'
import { isStrategyFailure } from '../strategy-failure.ts'

const { files } = workerData as { readonly files: readonly string[] }

parentPort?.postMessage(-1)
for (const [index, file] of files.entries()) {
  // What else is wrong with it is found, with its place, by whoever loads it for use.
  const failure: unknown = await loadStrategy(file).catch((error: unknown) => error)
  const hangs = isStrategyFailure(failure) && failure.code === 'STRATEGY_IMPORT_HANGS'
  parentPort?.postMessage(hangs ? 'hangs' : index)
  if (hangs) break
}
