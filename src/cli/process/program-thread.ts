import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * A thread of the program that runs strategies. Secrets of the process are none of theirs.
 * @param file Without its ending: beside the file that asks, in the language which that is in (`.ts` here, `.js`
 * where it was built). @param askedBy Its import.meta.url.
 */
export function openProgramThread(
  file: string,
  askedBy: string,
  workerData: object,
  options: Pick<WorkerOptions, 'resourceLimits'> = {},
): Worker {
  const ofThisVersion = getCompileCacheDir()
  const cacheDirectory = ofThisVersion === undefined ? undefined : dirname(ofThisVersion)
  return new Worker(new URL(`${file}${askedBy.slice(askedBy.lastIndexOf('.'))}`, askedBy), {
    ...options,
    workerData: { ...workerData, cacheDirectory },
    execArgv: [],
    env: {},
  })
}
