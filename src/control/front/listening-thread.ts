import { messageOf } from '../../lib/failure.ts'
import { SupervisedThread, type ThreadEnd } from '../../lib/supervised-thread.ts'
import { systemTimers } from '../../lib/timers.ts'

/** The reason why a thread no longer listens begins with this. */
export const THREAD = 'its thread'
/** The thread beats twice a second. */
const PATIENCE_MS = 10_000
const STOP_MS_MAX = 1000
const HEAP_MB = 256

export interface ListeningTask {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
}

export type ListeningNews<News> =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'news'; readonly news: News }

export type ToListening<Message> =
  | { readonly kind: 'stop' }
  | { readonly kind: 'message'; readonly message: Message }

export interface BeatingTask<Task> {
  readonly task: Task
  readonly beats: SharedArrayBuffer
}

export interface LineHandlers<News> {
  readonly onNews: (news: News) => void
  readonly onBroken: (reason: string) => void
  /** Called however the thread ended; the reason is undefined if it was stopped. */
  readonly onEnded: (reason: string | undefined) => void
}

/** The way to what listens at a port, in a thread or in this one. */
export interface FrontLine<Message> {
  /** The port. Rejected with the reason if it cannot be opened. */
  readonly listening: Promise<number>
  post(message: Message): void
  stop(): Promise<void>
}

export interface ListeningThreadOptions<Task, News> extends LineHandlers<News> {
  /** As for {@link SupervisedThread}. */
  readonly file: string
  readonly askedBy: string
  readonly task: Task
  readonly patienceMs?: number
}

/**
 * A thread that listens at a port for the trading thread. If it fails, or does not beat for ten
 * seconds, it is ended and the port is closed; the caller may begin another one.
 */
export class ListeningThread<
  Task extends ListeningTask,
  News,
  Message,
> implements FrontLine<Message> {
  readonly #options: ListeningThreadOptions<Task, News>
  readonly #listening = Promise.withResolvers<number>()
  readonly #stopped = Promise.withResolvers<void>()
  readonly #thread: SupervisedThread<ListeningNews<News>>

  constructor(options: ListeningThreadOptions<Task, News>) {
    const { file, askedBy, task, patienceMs = PATIENCE_MS, onEnded } = options
    this.#options = options
    const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const count = new Int32Array(beats)
    const begun: BeatingTask<Task> = { task, beats }
    this.#thread = new SupervisedThread({
      file,
      askedBy,
      task: begun,
      heapMb: HEAP_MB,
      patienceMs,
      beats: () => Atomics.load(count, 0),
      onNews: (news) => this.#hear(news),
    })
    void this.#thread.ended.then((end) => {
      const reason = reasonOf(end)
      this.#stopped.resolve()
      this.#listening.reject(new Error(reason ?? 'it was stopped'))
      onEnded(reason)
    })
  }

  get listening(): Promise<number> {
    return this.#listening.promise
  }

  post(message: Message): void {
    this.#send({ kind: 'message', message })
  }

  async stop(): Promise<void> {
    if (this.#thread.isEnding) return this.#thread.gone
    this.#send({ kind: 'stop' })
    const late = new Promise<void>((resolve) => systemTimers.after(STOP_MS_MAX, resolve))
    await Promise.race([this.#stopped.promise, late])
    await Promise.race([this.#thread.end(), late])
  }

  #send(message: ToListening<Message>): void {
    this.#thread.post(message)
  }

  #hear(news: ListeningNews<News>): void {
    if (news.kind === 'news') this.#options.onNews(news.news)
    else if (news.kind === 'listening') this.#listening.resolve(news.port)
    else if (news.kind === 'broken') this.#options.onBroken(news.reason)
    else if (news.kind === 'stopped') this.#stopped.resolve()
    else {
      this.#listening.reject(new Error(news.reason))
      void this.#thread.end()
    }
  }
}

function reasonOf(end: ThreadEnd): string | undefined {
  if (end.kind === 'stopped') return undefined
  if (end.kind === 'failed') return `${THREAD} failed: ${messageOf(end.error)}`
  return `${THREAD} ${end.kind === 'late' ? 'hung' : 'has ended'}`
}
