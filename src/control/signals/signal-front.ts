import { Secret } from '../../lib/secret.ts'
import type { FrontServer } from '../front/listen-in-thread.ts'
import { NewsBundle } from '../front/news-bundle.ts'
import { type ProvedSignal, type SignalAnswer, SignalGuard } from './signal-guard.ts'
import type { SignalNews, SignalTask, ToSignals } from './signal-messages.ts'
import { SignalServer } from './signal-server.ts'

export interface SignalFrontOptions extends SignalTask {
  readonly monotonic: () => number
  readonly post: (news: SignalNews) => void
  readonly onBroken: (reason: string) => void
}

export class SignalFront implements FrontServer<ToSignals> {
  readonly #options: SignalFrontOptions
  readonly #refused: NewsBundle<Exclude<SignalNews, { readonly kind: 'proved' }>>
  readonly #server: SignalServer
  readonly #waiting = new Map<number, PromiseWithResolvers<SignalAnswer>>()
  #lastId = 0

  constructor(options: SignalFrontOptions) {
    const { host, port, keys, monotonic, post, onBroken } = options
    this.#options = options
    this.#refused = new NewsBundle<Exclude<SignalNews, { readonly kind: 'proved' }>>(post)
    const guard = new SignalGuard({
      keys: keys.map((key) => ({ ...key, secret: new Secret(key.secret) })),
      monotonic,
      onAnswered: (name, result, why) =>
        this.#refused.add(`${name} ${result}`, { kind: 'answered', name, result, why, count: 1 }),
    })
    this.#server = new SignalServer({
      host,
      port,
      guard,
      monotonic,
      take: (signal) => this.#take(signal),
      onBroken,
      onClosed: (why) => this.#refused.add('closed', { kind: 'closed', why, count: 1 }),
    })
  }

  start(): Promise<number> {
    return this.#server.start()
  }

  hear({ id, answer }: ToSignals): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (answer === undefined) waiting?.reject(new Error('the signal was not taken'))
    else waiting?.resolve(answer)
  }

  async stop(): Promise<void> {
    await this.#server.stop()
    this.#refused.flush()
  }

  #take(signal: ProvedSignal): Promise<SignalAnswer> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<SignalAnswer>()
    this.#waiting.set(id, waiting)
    this.#refused.flush()
    this.#options.post({ kind: 'proved', id, signal })
    return waiting.promise
  }
}
