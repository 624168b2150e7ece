import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { systemTimers } from './timers.ts'

/** Those that have not come to their end. */
const running = new Set<Worker>()
/** A thread comes to its end within milliseconds, where it does at all. */
const END_MS_MAX = 1000

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
  const worker = new Worker(new URL(`${file}${askedBy.slice(askedBy.lastIndexOf('.'))}`, askedBy), {
    ...options,
    env: ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) },
    argv: [],
    execArgv: [],
  })
  running.add(worker)
  worker.once('exit', () => running.delete(worker))
  return worker
}

/**
 * Ends every thread of the program. False where one does not come to its end, as where it loops in built-in functions
 * alone: `process.exit` would wait for it for ever.
 */
export async function endThreads(): Promise<boolean> {
  const ends = [...running].map((worker) => worker.terminate())
  const late = new Promise<void>((resolve) => systemTimers.after(END_MS_MAX, resolve))
  await Promise.race([Promise.all(ends), late])
  return running.size === 0
}
