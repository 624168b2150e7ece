import { Failure, messageOf } from '../../lib/failure.ts'
import { SupervisedThread, type ThreadEnd } from '../../lib/supervised-thread.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type {
  ClosedTradesQuery,
  ExplainQuery,
  FillsQuery,
  JournalQuery,
  ProfitQuery,
} from '../../control/detail-views.ts'

const WAITING_MAX = 8
const ANSWER_MS_MAX = 20_000
const IDLE_MS_MAX = 60_000
const HEAP_MB = 256

interface PendingReply {
  readonly resolve: (found: unknown) => void
  readonly reject: (error: Failure) => void
}

/**
 * Readings run in a thread, which lives while there are requests, so that trading does not wait.
 */
export class BackgroundReadings {
  readonly #data: ReadingData
  readonly #waiting = new Map<number, PendingReply>()
  #thread: SupervisedThread<ReadingReply> | undefined
  #lastId = 0

  constructor({ config, journal, backtests }: ReadingData) {
    const { account, instruments, calendar } = config
    this.#data = { config: { account, instruments, calendar }, journal, backtests }
  }

  ask(reading: Reading): Promise<unknown> {
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(failed('too much is asked for at once'))
    const thread = (this.#thread ??= this.#open())
    const id = ++this.#lastId
    if (this.#waiting.size === 0) thread.wait(ANSWER_MS_MAX)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      thread.post({ id, reading })
    })
  }

  stop(): void {
    const thread = this.#thread
    this.#refuse('the daemon ends')
    void thread?.end()
  }

  #open(): SupervisedThread<ReadingReply> {
    const thread = new SupervisedThread<ReadingReply>({
      file: './reading-thread',
      askedBy: import.meta.url,
      task: this.#data,
      heapMb: HEAP_MB,
      isBackground: true,
      onNews: (answered) => this.#take(thread, answered),
    })
    void thread.ended.then((end) => thread === this.#thread && this.#refuse(reasonOf(end)))
    return thread
  }

  #take(thread: SupervisedThread<ReadingReply>, { id, found, reason }: ReadingReply): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (reason === undefined) waiting?.resolve(found)
    else waiting?.reject(failed(reason))
    thread.wait(this.#waiting.size === 0 ? IDLE_MS_MAX : ANSWER_MS_MAX)
  }

  #refuse(reason: string): void {
    this.#thread = undefined
    for (const { reject } of this.#waiting.values()) reject(failed(reason))
    this.#waiting.clear()
  }
}

function reasonOf(end: ThreadEnd): string {
  if (end.kind === 'late') return 'it took too long'
  return end.kind === 'failed' ? messageOf(end.error) : 'its thread has ended'
}

function failed(reason: string): Failure {
  return new Failure({
    code: 'CONTROL_READING_FAILED',
    sentence: `the journal was not read: ${reason}`,
    hint: '`intentd explain` reads it from another process',
  })
}

export interface ReadingData {
  readonly config: Pick<DaemonConfig, 'account' | 'instruments' | 'calendar'>
  readonly journal: string
  readonly backtests: string
}

export type Reading =
  | { readonly kind: 'explain'; readonly query: ExplainQuery }
  | { readonly kind: 'journal'; readonly query: JournalQuery }
  | { readonly kind: 'fills'; readonly query: FillsQuery }
  | { readonly kind: 'profit'; readonly query: ProfitQuery }
  | { readonly kind: 'trades'; readonly query: ClosedTradesQuery }
  | { readonly kind: 'curve'; readonly since: number | undefined }
  | { readonly kind: 'plots'; readonly symbol: string; readonly since: number | undefined }
  | { readonly kind: 'backtests' }

export interface ReadingRequest {
  readonly id: number
  readonly reading: Reading
}

export interface ReadingReply {
  readonly id: number
  readonly found?: unknown
  readonly reason?: string
}
