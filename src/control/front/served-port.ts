import { messageOf } from '../../lib/failure.ts'
import type { TurnQueue } from '../access/turn-queue.ts'
import type { RefusedKind } from '../refusals.ts'
import { type FrontLine, type LineHandlers, ListeningThread } from './listening-thread.ts'
import type { PassedRequest, PortNews, PortTask, ToPort } from './port-messages.ts'

export type OpenPort = (task: PortTask, handlers: LineHandlers<PortNews>) => FrontLine<ToPort>

export const openPortThread: OpenPort = (task, handlers) =>
  new ListeningThread({ file: './port-thread', askedBy: import.meta.url, task, ...handlers })

export interface ServedPortOptions {
  readonly open: OpenPort
  readonly task: PortTask
  readonly turns: TurnQueue
  /** The application; loaded by the first request. */
  readonly serve: (request: Request) => Promise<Response>
  readonly onRefused: (kind: RefusedKind, why: string, count: number) => void
  readonly onBroken: (reason: string) => void
  /** Called when the port's thread ended by itself: the port is closed. */
  readonly onEnded: (reason: string) => void
}

/** The trading thread's side of the control port: answers the requests that are passed on to it. */
export class ServedPort {
  readonly #options: ServedPortOptions
  readonly #open = new Map<number, OpenRequest>()
  readonly #line: FrontLine<ToPort>

  constructor(options: ServedPortOptions) {
    this.#options = options
    this.#line = options.open(options.task, {
      onNews: (news) => this.#hear(news),
      onBroken: options.onBroken,
      onEnded: (reason) => {
        for (const open of this.#open.values()) open.leave()
        this.#open.clear()
        if (reason !== undefined) options.onEnded(reason)
      },
    })
  }

  get listening(): Promise<number> {
    return this.#line.listening
  }

  get openRequests(): number {
    return this.#open.size
  }

  stop(): Promise<void> {
    return this.#line.stop()
  }

  #hear(news: PortNews): void {
    if (news.kind === 'passed') this.#take(news.request)
    else if (news.kind === 'left') this.#leave(news.id)
    else if (news.kind === 'slow') this.#open.get(news.id)?.wait(news.isSlow)
    else this.#options.onRefused(news.what, news.why, news.count)
  }

  #leave(id: number): void {
    this.#open.get(id)?.leave()
    this.#open.delete(id)
  }

  #take(request: PassedRequest): void {
    const { serve, turns, onBroken } = this.#options
    const { id } = request
    const post = (message: ToPort): void => this.#line.post(message)
    const open = new OpenRequest(request, { serve, post })
    this.#open.set(id, open)
    const answer = async (): Promise<void> => {
      try {
        await open.answer()
      } catch (error) {
        onBroken(messageOf(error))
        post({ kind: 'end', id })
      } finally {
        this.#open.delete(id)
      }
    }
    if (turns.add(request.kind, () => void answer())) return
    this.#open.delete(id)
    post({ kind: 'full', id })
  }
}

interface OpenRequestOptions {
  readonly serve: ServedPortOptions['serve']
  readonly post: (message: ToPort) => void
}

class OpenRequest {
  readonly #request: PassedRequest
  readonly #options: OpenRequestOptions
  readonly #left = new AbortController()
  #drained: PromiseWithResolvers<void> | undefined

  constructor(request: PassedRequest, options: OpenRequestOptions) {
    this.#request = request
    this.#options = options
  }

  async answer(): Promise<void> {
    const { id, method, target, headers, body = null } = this.#request
    const { serve, post } = this.#options
    const { signal } = this.#left
    if (signal.aborted) return
    const response = await serve(
      new Request(`http://localhost${target}`, { method, headers, body, signal }),
    )
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: isStream ? undefined : await response.text(),
    }
    if (signal.aborted) return void response.body?.cancel().catch(() => undefined)
    post({ kind: 'answer', id, answer })
    if (isStream && response.body !== null) await this.#follow(response.body)
  }

  async #follow(body: ReadableStream<Uint8Array>): Promise<void> {
    const { signal } = this.#left
    const reader = body.getReader()
    signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined))
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) return
      if (done) return this.#options.post({ kind: 'end', id: this.#request.id })
      this.#options.post({ kind: 'chunk', id: this.#request.id, chunk: value })
      await this.#drained?.promise
    }
  }

  /** A posted request is still carried out: a kill counts although its sender has hung up. */
  leave(): void {
    if (this.#request.method === 'POST') return
    this.#drained?.resolve()
    this.#left.abort()
  }

  wait(isSlow: boolean): void {
    // The stream waits on the first chunk that was too fast; further ones keep that promise.
    if (isSlow) this.#drained ??= Promise.withResolvers()
    else {
      this.#drained?.resolve()
      this.#drained = undefined
    }
  }
}
