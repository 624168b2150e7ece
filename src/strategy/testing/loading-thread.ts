// The thread in which strategy files are loaded before anybody else loads them: one that loops costs this thread alone.

import { runTask } from '../../lib/supervised-thread.ts'
import { loadStrategy } from '../load-strategy.ts'
import { isStrategyFailure } from '../strategy-failure.ts'

await runTask<{ readonly files: readonly string[] }, number>(async ({ files }, report) => {
  report(-1)
  for (const [index, file] of files.entries()) {
    // Whatever loads it for use finds what else is wrong with it, with its place.
    await loadStrategy(file).catch((error: unknown) => {
      if (isStrategyFailure(error) && error.code === 'STRATEGY_IMPORT_HANGS') throw error
    })
    report(index)
  }
})
