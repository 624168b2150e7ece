/** A thread, so that endless code can be ended, and signals are heard. */
import { runTask } from '../../lib/supervised-thread.ts'
import { guardFiles } from '../../strategy/isolation/guard-thread.ts'
import { PlayMarks } from './play-marks.ts'
import { PLAY_ERRORS, type PlayMessage, type PlayWatcher } from './play-message.ts'

/** From {@link playWatched}. */
export interface ThreadData<Task> {
  readonly task: Task
  readonly shared: SharedArrayBuffer
  readonly isTTY: boolean
}

export async function playForWatcher<Task>(
  play: (task: Task, watcher: PlayWatcher) => Promise<void>,
): Promise<void> {
  await runTask<ThreadData<Task>, PlayMessage>(({ task, shared, isTTY }, post) => {
    guardFiles()
    return play(task, { marks: new PlayMarks(shared), isTTY, post })
  }, PLAY_ERRORS)
}
