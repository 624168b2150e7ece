// The thread in which strategy files are loaded before anybody else loads them: one that loops costs this thread alone.

import { parentPort, workerData } from 'node:worker_threads'
import { loadStrategy } from '../load-strategy.ts'

const { files } = workerData as { readonly files: readonly string[] }

parentPort?.postMessage(-1)
for (const [index, file] of files.entries()) {
  // What else is wrong with it is found, with its place, by whoever loads it for use.
  await loadStrategy(file).catch(() => undefined)
  parentPort?.postMessage(index)
}
