import { playForWatcher } from '../../backtest/playing/thread-protocol.ts'
import { type BiasTask, checkBias } from './run-check.ts'

const EXIT_BIASED = 1

await playForWatcher<BiasTask>(async (task, watcher) => {
  const { isBiased, lines } = await checkBias(task, watcher)
  const text = lines.map((line) => `${line}\n`).join('')
  watcher.post({ kind: 'report', text, exit: isBiased ? EXIT_BIASED : 0 })
})
