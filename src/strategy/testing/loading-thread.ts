// A file that loops costs only this thread.

import { runTask } from '../../lib/supervised-thread.ts'
import { refuseDrafts } from '../isolation/refuse-drafts.ts'
import { loadStrategy } from '../load-strategy.ts'
import { isStrategyFailure } from '../strategy-failure.ts'
import type { LoadingTask } from './watched-loading.ts'

await runTask<LoadingTask, number>(async ({ files, drafts }, report) => {
  refuseDrafts(drafts)
  report(-1)
  for (const [index, file] of files.entries()) {
    // They are reported with their place when the file is loaded for use.
    await loadStrategy(file).catch((error: unknown) => {
      if (isStrategyFailure(error) && error.code === 'STRATEGY_IMPORT_HANGS') throw error
    })
    report(index)
  }
})
