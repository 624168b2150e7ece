import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * A thread of the program. It knows nothing of what the process knows, secrets above all, but where compiled code is
 * kept: to compile the program again would take it twice as long to begin.
 * @param file Without its ending: beside the file that asks, in the language which that is in (`.ts` here, `.js`
 * where it was built). @param askedBy Its import.meta.url.
 */
export function openProgramThread(
  file: string,
  askedBy: string,
  options: Omit<WorkerOptions, 'env' | 'argv' | 'execArgv'>,
): Worker {
  const ofThisVersion = getCompileCacheDir()
  return new Worker(new URL(`${file}${askedBy.slice(askedBy.lastIndexOf('.'))}`, askedBy), {
    ...options,
    env: ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) },
    argv: [],
    execArgv: [],
  })
}
