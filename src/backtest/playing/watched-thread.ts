/** What plays prices does it in a thread of its own: what never comes back can be ended, and signals are heard. */
import { parentPort, workerData } from 'node:worker_threads'
import { guardFiles } from '../../strategy/isolation/guard-files.ts'
import { PlayMarks } from './play-marks.ts'
import { packError, type PlayMessage, type PlayWatcher } from './play-message.ts'

/** What {@link playWatched} hands to the thread. */
export interface ThreadData<Task> {
  readonly task: Task
  readonly shared: SharedArrayBuffer
  readonly isTTY: boolean
}

/** In the thread: plays, and posts what it ended with. */
export async function playForWatcher<Task>(
  play: (task: Task, watcher: PlayWatcher) => Promise<void>,
): Promise<void> {
  const { task, shared, isTTY } = workerData as ThreadData<Task>
  guardFiles()
  const post = (message: PlayMessage): void => parentPort?.postMessage(message)
  await play(task, { marks: new PlayMarks(shared), isTTY, post }).catch((error: unknown) =>
    post({ kind: 'failed', error: packError(error) }),
  )
  post({ kind: 'ended' })
}
