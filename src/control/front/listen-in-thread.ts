import { messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { hearPosted, runTask } from '../../lib/supervised-thread.ts'
import type { BeatingTask, ListeningNews, ListeningTask, ToListening } from './listening-thread.ts'

const BEAT_MS = 500

export interface FrontServer<Message> {
  /** @returns the port @throws if it cannot be opened */
  start(): Promise<number>
  hear(message: Message): void
  stop(): Promise<void>
}

export interface FrontFrame<News> {
  readonly post: (news: News) => void
  readonly onBroken: (reason: string) => void
}

/** Runs in a {@link ListeningThread}. */
export function listenInThread<Task extends ListeningTask, News, Message>(
  create: (task: Task, frame: FrontFrame<News>) => FrontServer<Message>,
): Promise<void> {
  return runTask<BeatingTask<Task>, ListeningNews<News>>(async ({ task, beats }, report) => {
    const count = new Int32Array(beats)
    const beat = (): void => {
      Atomics.add(count, 0, 1)
      systemTimers.after(BEAT_MS, beat)
    }
    beat()
    const server = create(task, {
      post: (news) => report({ kind: 'news', news }),
      onBroken: (reason) => report({ kind: 'broken', reason }),
    })
    const heard = hearPosted<ToListening<Message>>((sent) => {
      if (sent.kind === 'message') server.hear(sent.message)
      else void server.stop().then(() => report({ kind: 'stopped' }))
    })
    try {
      report({ kind: 'listening', port: await server.start() })
    } catch (error) {
      report({ kind: 'unreachable', reason: messageOf(error) })
    }
    await heard
  })
}
