import { SupervisedThread } from '../../lib/supervised-thread.ts'
import { isStrategyFailure, strategyFailure, type StrategyFailure } from '../strategy-failure.ts'

/** This is longer than the limit for a file that only waits. */
const LOAD_MS_MAX = 25_000
const HEAP_MB = 512

export interface LoadingTask {
  readonly files: readonly string[]
  /** Folders whose code is not loaded. */
  readonly drafts: readonly string[]
}

/**
 * @param limitMs for each file
 * @returns the first file that does not finish
 */
export async function findEndlessFile(
  task: LoadingTask,
  limitMs = LOAD_MS_MAX,
): Promise<StrategyFailure | undefined> {
  const { files } = task
  if (files.length === 0) return undefined
  let next = 0
  const thread = new SupervisedThread<number>({
    file: './loading-thread',
    askedBy: import.meta.url,
    task,
    heapMb: HEAP_MB,
    // Includes loading the program itself.
    patienceMs: LOAD_MS_MAX,
    isByCpu: true,
    onNews(loaded) {
      next = loaded + 1
      thread.wait(limitMs)
    },
  })
  const end = await thread.ended
  const isEndless =
    end.kind === 'late' ||
    (end.kind === 'failed' &&
      isStrategyFailure(end.error) &&
      end.error.code === 'STRATEGY_IMPORT_HANGS')
  if (!isEndless) return undefined
  return strategyFailure('STRATEGY_IMPORT_HANGS', {
    facts: { file: files[next] ?? '' },
    hint: 'look for an endless loop outside of decide, or an `await` at the top of the file that never ends',
  })
}
