import type Undici from 'undici'
import type { Client, Dispatcher, ProxyAgent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { type ForwardProxy, openTunnel } from '../../lib/net/proxy.ts'
import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import {
  AnswerBuffers,
  PendingCall,
  type RequestHandler,
  type WireOutcome,
  type WireRequest,
} from './pending-call.ts'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'

/** All of undici would cost a start 60 ms and 14 MB more. */
const part = createRequire(import.meta.url)
const HttpClient = part('undici/lib/dispatcher/client.js') as typeof Undici.Client
const buildConnector = part('undici/lib/core/connect.js') as typeof Undici.buildConnector

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

export interface ConnectionsOptions {
  readonly origin: string
  readonly connectionsMax: number
  readonly connectTimeoutMs: number
  readonly client: Client.Options
  readonly proxy?: ForwardProxy | undefined
}

interface Connection {
  readonly client: Client | ProxyAgent
  isBusy: boolean
}

interface QueuedRequest {
  readonly request: Dispatcher.DispatchOptions
  readonly handler: RequestHandler
}

/**
 * Kept-alive connections with one request at a time each. The first idle one is taken, so that a
 * few stay warm and the others time out. Once the maximum is open, requests wait.
 *
 * undici's own pool counts a connection as idle only one turn after its answer, so an order that
 * follows a ticker answer would open a new one.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #connections: Connection[] = []
  readonly #waiting: QueuedRequest[] = []
  readonly #sockets = new Set<Socket>()
  readonly #connect: ReturnType<typeof buildConnector>
  #isClosed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const connect = buildConnector({ allowH2: false, timeout: options.connectTimeoutMs })
    this.#connect = (target, callback) => this.#follow(connect(target, callback))
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: RequestHandler): void {
    if (this.#isClosed) throw new Error('the connections are closed')
    const idle = this.#connections.find((connection) => !connection.isBusy) ?? this.#open()
    if (idle === undefined) this.#waiting.push({ request, handler })
    else this.#dispatchOn(idle, { request, handler })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#connections.map(({ client }) => closeClient(client)))
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * The HTTP client leaves attempts to connect open, which keeps the process alive, so closing
   * destroys the socket.
   */
  #follow(socket: unknown): void {
    if (!(socket instanceof Socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #open(): Connection | undefined {
    const { origin, connectionsMax, connectTimeoutMs, client, proxy } = this.#options
    if (this.#connections.length >= connectionsMax) return undefined
    const connection = {
      client: proxy
        ? openTunnel(proxy, { ...client, connections: 1, connectTimeoutMs })
        : new HttpClient(origin, { ...client, connect: this.#connect }),
      isBusy: false,
    }
    this.#connections.push(connection)
    return connection
  }

  #dispatchOn(connection: Connection, { request, handler }: QueuedRequest): void {
    connection.isBusy = true
    handler.onFree = () => {
      const next = this.#waiting.shift()
      connection.isBusy = next !== undefined
      // After a failed connection the HTTP client must first finish with this request.
      if (next !== undefined) queueMicrotask(() => this.#carryOn(connection, next))
    }
    const { origin, proxy } = this.#options
    // A tunnel needs its destination with each request.
    connection.client.dispatch(proxy ? { ...request, origin } : request, handler)
  }

  #carryOn(connection: Connection, waiting: QueuedRequest): void {
    try {
      this.#dispatchOn(connection, waiting)
    } catch (error) {
      waiting.handler.onUnsent(error)
    }
  }
}

async function closeClient(client: Connection['client']): Promise<void> {
  if ('destroyed' in client && client.destroyed) return
  await client.close()
  await client.destroy()
}
