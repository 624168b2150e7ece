import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type Undici from 'undici'
import type { Client, Dispatcher, ProxyAgent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { type ForwardProxy, openTunnel } from '../../lib/net/proxy.ts'
import type { Timers } from '../../lib/timers.ts'
import type { OutgoingRequest } from './request-writer.ts'

/** Loading all of undici would cost a start 60 ms and 14 MB more. */
const part = createRequire(import.meta.url)
const HttpClient = part('undici/lib/dispatcher/client.js') as typeof Undici.Client
const buildConnector = part('undici/lib/core/connect.js') as typeof Undici.buildConnector

interface TransportOptions {
  readonly baseUrl: string
  readonly clock: Clock
  readonly timers: Timers
  readonly answerBytesMax: number
  readonly proxy?: ForwardProxy | undefined
}

/**
 * The time is longer than the pauses between polls, and shorter than servers keep idle connections,
 * so that no order is written to a closing one.
 */
const KEEP_ALIVE_MS = 25_000

const CONNECTIONS_MAX = 16

/** The HTTP client's own timeouts are imprecise, so they are later than our deadline. */
const BACKSTOP_MS = 65_000

const CONNECT_MS = 5000

/**
 * HTTP/1.1 connections to one address are kept alive. Nothing is redirected or repeated. A failed
 * request says whether a byte may have left.
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

  send<Result>(request: TransportRequest<Result>): Promise<WireOutcome<Result>> {
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
      call.start(this.#connections)
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

interface ConnectionsOptions {
  readonly origin: string
  readonly connectionsMax: number
  readonly connectTimeoutMs: number
  readonly client: Client.Options
  readonly proxy?: ForwardProxy | undefined
}

interface HttpConnection {
  readonly client: Client | ProxyAgent
  isBusy: boolean
}

/**
 * Replaces undici's own pool, which counts a connection as idle only one turn after its answer, so
 * that an order after a ticker answer would open a new one. Here the first idle connection is
 * taken, so a few stay warm and the others time out. Once the maximum is open, requests wait.
 */
class Connections {
  readonly #options: ConnectionsOptions
  readonly #connections: HttpConnection[] = []
  readonly #waiting: DispatchedCall[] = []
  readonly #sockets = new Set<Socket>()
  readonly #connect: ReturnType<typeof buildConnector>
  #isClosed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const connect = buildConnector({ allowH2: false, timeout: options.connectTimeoutMs })
    this.#connect = (target, callback) => this.#follow(connect(target, callback))
  }

  dispatch(call: DispatchedCall): void {
    if (this.#isClosed) throw new Error('the connections are closed')
    const idle = this.#connections.find((connection) => !connection.isBusy) ?? this.#open()
    if (idle === undefined) this.#waiting.push(call)
    else this.#dispatchOn(idle, call)
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

  #open(): HttpConnection | undefined {
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

  #dispatchOn(connection: HttpConnection, call: DispatchedCall): void {
    connection.isBusy = true
    call.onFree = () => {
      const next = this.#waiting.shift()
      connection.isBusy = next !== undefined
      // The HTTP client must first finish with the request whose connection failed.
      if (next !== undefined) queueMicrotask(() => this.#carryOn(connection, next))
    }
    const { origin, proxy } = this.#options
    // A tunnel needs its destination with each request.
    connection.client.dispatch(proxy ? { ...call.message, origin } : call.message, call)
  }

  #carryOn(connection: HttpConnection, waiting: DispatchedCall): void {
    try {
      this.#dispatchOn(connection, waiting)
    } catch (error) {
      waiting.onUnsent(error)
    }
  }
}

async function closeClient(client: HttpConnection['client']): Promise<void> {
  if ('destroyed' in client && client.destroyed) return
  await client.close()
  await client.destroy()
}

interface DispatchedCall extends Dispatcher.DispatchHandler {
  readonly message: Dispatcher.DispatchOptions
  /** It must be called once, when the HTTP client is done with the request in any way. */
  onFree: () => void
  onUnsent: (error: unknown) => void
}

export interface TransportRequest<Result> extends Pick<
  OutgoingRequest,
  'method' | 'target' | 'headers' | 'body'
> {
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly beforeWrite?: (() => string | undefined) | undefined
  /** The bytes are valid only during this call. */
  readonly read: (answer: WireAnswer) => Result
}

export interface WireAnswer {
  readonly status: number
  readonly contentEncoding: string
  readonly body: Buffer
  /** Unix ms: just before the first byte left, and after the last one arrived. */
  readonly sentAt: number
  readonly receivedAt: number
}

/**
 * - `answered`: a complete answer came.
 * - `notSent`: no byte has left, and none will.
 * - `lost`: a part has left, and no complete answer came.
 */
export type WireOutcome<Result> =
  | { readonly kind: 'answered'; readonly result: Result }
  | {
      readonly kind: 'notSent'
      readonly code: NotSentCode
      readonly message: string
      readonly at: number
    }
  | {
      readonly kind: 'lost'
      readonly cause: LossCause
      readonly code: string
      readonly status: number | undefined
      readonly sentAt: number
      readonly at: number
    }

type NotSentCode = 'ABORTED' | 'CONNECT_FAILED' | 'CONNECT_TIMEOUT'
type LossCause = 'timeout' | 'connectionLost' | 'tooLarge'

/** Fixed texts, so that no secret is in them. */
class AbortReason extends Error {
  override readonly name = 'AbortReason'
}

interface PendingCallOptions<Result> {
  readonly request: TransportRequest<Result>
  readonly isProxied: boolean
  readonly clock: Clock
  readonly timers: Timers
  readonly buffers: AnswerBuffers
  readonly resolve: (outcome: WireOutcome<Result>) => void
  readonly reject: (error: unknown) => void
}

/**
 * A request is written once: if the HTTP client tries it on a second connection, it is stopped
 * there.
 *
 *     waiting ──the connection is there──► written ──last byte──► over (answered)
 *        │  beforeWrite objects, deadline,    │  deadline, reset, too large
 *        │  connection refused                ▼
 *        └──────► over (notSent)          over (lost)
 */
class PendingCall<Result> implements DispatchedCall {
  readonly message: Dispatcher.DispatchOptions
  onFree = (): void => undefined
  readonly #options: PendingCallOptions<Result>
  #state: 'waiting' | 'written' | 'over' = 'waiting'
  #controller: Dispatcher.DispatchController | undefined
  #cancelDeadline: (() => void) | undefined
  #buffer: Buffer | undefined
  #length = 0
  #sentAt = 0
  #status: number | undefined
  #contentEncoding = ''

  constructor(options: PendingCallOptions<Result>) {
    const { method, target, headers, body } = options.request
    this.#options = options
    this.message = { method, path: target, headers, body: body === '' ? null : body }
  }

  start(connections: Connections): void {
    const { request, timers } = this.#options
    this.#cancelDeadline = timers.after(request.timeoutMs, () => this.#expire())
    try {
      connections.dispatch(this)
    } catch (error) {
      this.onUnsent(error)
    }
  }

  onUnsent(error: unknown): void {
    this.onFree()
    this.#fail(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An abort would close the connection.
    if (this.#state !== 'waiting') throw new AbortReason('the call is over')
    const reason = this.#lastCheck()
    if (reason !== undefined) {
      this.#end({
        kind: 'notSent',
        code: 'ABORTED',
        message: reason,
        at: this.#options.clock.now(),
      })
      throw new AbortReason('aborted before it was written')
    }
    this.#state = 'written'
    this.#controller = controller
    this.#sentAt = this.#options.clock.now()
  }

  #lastCheck(): string | undefined {
    try {
      return this.#options.request.beforeWrite?.()
    } catch (error) {
      this.#close()
      this.#options.reject(error)
      throw error
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#contentEncoding = String(headers['content-encoding'] ?? '').toLowerCase()
    this.#buffer = this.#options.buffers.borrow()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state !== 'written' || this.#buffer === undefined) return
    const length = this.#length + chunk.length
    if (length > this.#options.request.answerBytesMax) {
      this.#lose('tooLarge', 'ANSWER_TOO_LARGE')
      return
    }
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, this.#buffer.length * 2))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = length
  }

  onResponseEnd(): void {
    this.onFree()
    if (this.#state !== 'written' || this.#buffer === undefined) return
    const { request, clock, resolve, reject } = this.#options
    this.#close()
    try {
      const result = request.read({
        status: this.#status ?? 0,
        contentEncoding: this.#contentEncoding,
        body: this.#buffer.subarray(0, this.#length),
        sentAt: this.#sentAt,
        receivedAt: clock.now(),
      })
      resolve({ kind: 'answered', result })
    } catch (error) {
      reject(error)
    } finally {
      this.#returnBuffer()
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.onFree()
    this.#fail(error)
  }

  #fail(error: unknown): void {
    if (this.#state === 'over') return
    const code = codeOf(error)
    if (this.#state === 'waiting') {
      const isTimeout = code === 'UND_ERR_CONNECT_TIMEOUT'
      this.#end({
        kind: 'notSent',
        code: isTimeout ? 'CONNECT_TIMEOUT' : 'CONNECT_FAILED',
        message: this.#options.isProxied
          ? `no connection to the exchange through the proxy (${proxyAnswer(error) ?? code})`
          : `no connection to the exchange (${code})`,
        at: this.#options.clock.now(),
      })
      return
    }
    this.#lose(code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? 'tooLarge' : 'connectionLost', code)
  }

  #expire(): void {
    if (this.#state === 'waiting') {
      const message = 'no connection to the exchange was free in time'
      this.#end({
        kind: 'notSent',
        code: 'CONNECT_TIMEOUT',
        message,
        at: this.#options.clock.now(),
      })
    } else if (this.#state === 'written') {
      this.#lose('timeout', 'DEADLINE')
    }
  }

  #lose(cause: LossCause, code: string): void {
    const at = this.#options.clock.now()
    this.#end({ kind: 'lost', cause, code, status: this.#status, sentAt: this.#sentAt, at })
    this.#returnBuffer()
    this.#controller?.abort(new AbortReason(code))
  }

  #end(outcome: WireOutcome<Result>): void {
    this.#close()
    this.#options.resolve(outcome)
  }

  #close(): void {
    this.#state = 'over'
    this.#cancelDeadline?.()
  }

  #returnBuffer(): void {
    if (this.#buffer !== undefined) this.#options.buffers.giveBack(this.#buffer)
    this.#buffer = undefined
  }
}

function proxyAnswer(error: unknown): string | undefined {
  const [, status] =
    (error instanceof Error && /^Proxy response \((\d{3})\)/.exec(error.message)) || []
  return status === undefined ? undefined : `it answers ${status}`
}

/** Foreign messages may contain secrets, so only the code is used. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code)) return code
  return /^[A-Za-z]{3,40}$/.test(error.name) ? error.name : 'UNKNOWN'
}

/** All tickers (300 KB) fit without growing. */
const CAPACITY = 512 * 1024

const KEPT_MAX = 4

/** One huge answer must not hold its memory for months. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024

class AnswerBuffers {
  readonly #bytesMax: number
  readonly #free: Buffer[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  borrow(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(Math.min(CAPACITY, this.#bytesMax))
  }

  giveBack(buffer: Buffer): void {
    if (this.#free.length < KEPT_MAX && buffer.length <= KEPT_BYTES_MAX) this.#free.push(buffer)
  }
}
