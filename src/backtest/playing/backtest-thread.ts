import { type BacktestTask, playForWatcher } from './thread-protocol.ts'
import { runBacktest } from './play-in-thread.ts'

await playForWatcher<BacktestTask>(async ({ config, options, version }, watcher) => {
  await runBacktest(config, options, version, watcher)
})
