import { playForWatcher } from '../../backtest/playing/thread-protocol.ts'
import { keepReadable } from '../../strategy/isolation/guard-thread.ts'
import { replaySegments, type ReplayTask } from './replay-segments.ts'

await playForWatcher<ReplayTask>(async (task, { marks, post }) => {
  for (const { file } of task.segments) keepReadable(file)
  const { lines, damage, exit } = await replaySegments(task, () => marks.beat())
  post({ kind: 'progress', text: damage })
  post({ kind: 'report', text: lines.map((line) => `${line}\n`).join(''), exit })
})
