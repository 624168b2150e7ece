import { type BacktestTask } from './play-message.ts'
import { playForWatcher } from './watched-thread.ts'

await playForWatcher<BacktestTask>(async ({ config, options, version }, watcher) => {
  const { runBacktest } = await import('./run-backtest.ts')
  await runBacktest(config, options, version, watcher)
})
