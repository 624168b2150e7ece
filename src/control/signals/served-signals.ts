import { messageOf } from '../../lib/failure.ts'
import { ListeningThread } from '../front/listening-thread.ts'
import type { ProvedSignal, SignalAnswer } from './signal-guard.ts'
import type { SignalNews, SignalTask, ToSignals } from './signal-messages.ts'

export interface ServedSignalsOptions {
  readonly task: SignalTask
  readonly take: (signal: ProvedSignal) => Promise<SignalAnswer>
  readonly onCounted: (news: Exclude<SignalNews, { readonly kind: 'proved' }>) => void
  readonly onBroken: (reason: string) => void
  /** Called when the port's thread ended by itself: the port is closed. */
  readonly onEnded: (reason: string) => void
}

export class ServedSignals {
  readonly #options: ServedSignalsOptions
  readonly #thread: ListeningThread<SignalTask, SignalNews, ToSignals>

  constructor(options: ServedSignalsOptions) {
    this.#options = options
    this.#thread = new ListeningThread({
      file: './signal-thread',
      askedBy: import.meta.url,
      task: options.task,
      onNews: (news) =>
        news.kind === 'proved' ? void this.#take(news.id, news.signal) : options.onCounted(news),
      onBroken: options.onBroken,
      onEnded: (reason) => reason !== undefined && options.onEnded(reason),
    })
  }

  get listening(): Promise<number> {
    return this.#thread.listening
  }

  stop(): Promise<void> {
    return this.#thread.stop()
  }

  async #take(id: number, signal: ProvedSignal): Promise<void> {
    let answer: SignalAnswer | undefined
    try {
      answer = await this.#options.take(signal)
    } catch (error) {
      this.#options.onBroken(messageOf(error))
    }
    this.#thread.post({ id, answer })
  }
}
