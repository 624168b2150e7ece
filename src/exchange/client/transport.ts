import type { Dispatcher } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import type { ForwardProxy } from '../../lib/net/proxy.ts'
import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { AnswerBuffers, PendingCall, type WireOutcome, type WireRequest } from './pending-call.ts'
import { Connections } from './connections.ts'

export interface TransportOptions {
  /** http only for a loopback address. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly timers: Timers
  readonly answerBytesMax: number
  readonly proxy?: ForwardProxy | undefined
}

/**
 * Longer than pauses between polls, shorter than servers keep idle connections, so that no order is
 * written to a closing one.
 */
const KEEP_ALIVE_MS = 25_000

const CONNECTIONS_MAX = 16

/** The HTTP client's timeouts are imprecise: a backstop after our deadline. */
const BACKSTOP_MS = 65_000

const CONNECT_MS = 5000

/**
 * Kept-alive HTTP/1.1 to one address, without redirects and repetitions. A failed request says
 * whether a byte may have left.
 */
export class Transport {
  readonly #options: TransportOptions
  readonly #connections: Connections
  readonly #buffers: AnswerBuffers

  /** @throws Failure EXCHANGE_URL_UNUSABLE */
  constructor(options: TransportOptions) {
    this.#options = options
    this.#buffers = new AnswerBuffers(options.answerBytesMax)
    this.#connections = new Connections({
      origin: assertOrigin(options.baseUrl),
      proxy: options.proxy,
      connectionsMax: CONNECTIONS_MAX,
      connectTimeoutMs: CONNECT_MS,
      client: {
        pipelining: 1,
        allowH2: false,
        keepAliveTimeout: KEEP_ALIVE_MS,
        keepAliveMaxTimeout: KEEP_ALIVE_MS,
        headersTimeout: BACKSTOP_MS,
        bodyTimeout: BACKSTOP_MS,
        maxResponseSize: options.answerBytesMax,
      },
    })
  }

  send<Result>(request: WireRequest<Result>): Promise<WireOutcome<Result>> {
    const { clock, timers } = this.#options
    return new Promise((resolve, reject) => {
      const call = new PendingCall({
        request,
        isProxied: this.#options.proxy !== undefined,
        clock,
        timers,
        buffers: this.#buffers,
        resolve,
        reject,
      })
      call.start((options: Dispatcher.DispatchOptions) => this.#connections.dispatch(options, call))
    })
  }

  async close(): Promise<void> {
    await this.#connections.close()
  }
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost'])

function assertOrigin(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname))
  const isBare = url !== null && url.pathname === '/' && url.search === '' && url.username === ''
  if (url === null || !isSafe || !isBare) {
    throw new Failure({
      code: 'EXCHANGE_URL_UNUSABLE',
      sentence:
        'the address of the exchange must be https (http only on this machine), a host and a port',
      hint: 'write exchange.baseUrl like https://api.example.com, without a path',
    })
  }
  return url.origin
}
