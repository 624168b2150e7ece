import { type BacktestTask, playForWatcher } from './watched-thread.ts'
import { runBacktest } from './run-backtest.ts'

await playForWatcher<BacktestTask>(async ({ config, options, version }, watcher) => {
  await runBacktest(config, options, version, watcher)
})
