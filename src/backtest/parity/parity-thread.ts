import { playForWatcher } from '../playing/thread-protocol.ts'
import { checkParity, type ParityTask } from './run-parity.ts'

const EXIT_DIFFERENT = 1

await playForWatcher<ParityTask>(async (task, watcher) => {
  const { isDifferent, lines } = await checkParity(task, watcher)
  const text = lines.map((line) => `${line}\n`).join('')
  watcher.post({ kind: 'report', text, exit: isDifferent ? EXIT_DIFFERENT : 0 })
})
