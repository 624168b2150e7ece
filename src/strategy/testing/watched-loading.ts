import { systemTimers } from '../../lib/timers.ts'
import { openProgramThread } from '../../lib/program-thread.ts'
import { strategyFailure, type StrategyFailure } from '../strategy-failure.ts'

/** Real time to load one file, ms: somewhat longer than a file may wait that only waits. */
const LOAD_MS_MAX = 25_000
const HEAP_MB = 512

/**
 * Loads strategy files in a thread, one after the other, so that the caller goes on where one loops while it is loaded.
 * @param limitMs Real time that one file may take.
 * @returns the first file that does not come to its end; undefined where all do.
 */
export function findEndlessFile(
  files: readonly string[],
  limitMs = LOAD_MS_MAX,
): Promise<StrategyFailure | undefined> {
  if (files.length === 0) return Promise.resolve(undefined)
  const worker = openProgramThread('./loading-thread', import.meta.url, {
    workerData: { files },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  return new Promise((resolve) => {
    let next = 0
    const finish = (isEndless: boolean): void => {
      cancelTimer()
      worker.removeAllListeners()
      // What comes of it after its end is of nobody's concern.
      worker.on('error', () => {})
      void worker.terminate()
      resolve(
        isEndless
          ? strategyFailure('STRATEGY_IMPORT_HANGS', {
              facts: { file: files[next] ?? '' },
              hint: 'look for an endless loop outside of decide, or an `await` at the top of the file that never ends',
            })
          : undefined,
      )
    }
    // The program itself is loaded first.
    let cancelTimer = systemTimers.after(LOAD_MS_MAX, () => finish(true))
    worker.on('message', (loaded: number | 'hangs') => {
      cancelTimer()
      if (loaded === 'hangs') return finish(true)
      next = loaded + 1
      if (next === files.length) return finish(false)
      cancelTimer = systemTimers.after(limitMs, () => finish(true))
    })
    worker.on('error', () => finish(false))
    worker.on('exit', () => finish(false))
  })
}
