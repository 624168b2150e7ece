import type { BacktestTask } from './play-message.ts'
import { runBacktest } from './run-backtest.ts'
import { playForWatcher } from './watched-thread.ts'

await playForWatcher<BacktestTask>(async ({ config, options, version }, watcher) => {
  await runBacktest(config, options, version, watcher)
})
