import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type Undici from 'undici'
import type { Client, Dispatcher, ProxyAgent } from 'undici'
import { type ForwardProxy, openTunnel } from '../../lib/net/proxy.ts'

/** Only these two parts of undici are loaded: all of it would cost a start 60 ms and 14 MB more (fetch, WebSocket, caches). */
const part = createRequire(import.meta.url)
const HttpClient = part('undici/lib/dispatcher/client.js') as typeof Undici.Client
const buildConnector = part('undici/lib/core/connect.js') as typeof Undici.buildConnector

export interface ConnectionsOptions {
  readonly origin: string
  /** Most that are open at a time. */
  readonly connectionsMax: number
  /** Longest attempt to connect, in ms. */
  readonly connectTimeoutMs: number
  readonly client: Client.Options
  /** Absent: the origin is called directly. */
  readonly proxy?: ForwardProxy | undefined
}

/** What the HTTP client calls about one request. */
export interface RequestHandler extends Dispatcher.DispatchHandler {
  /** To be called once, when the HTTP client is done with the request, whatever became of it: the connection is free. */
  onFree: () => void
  /** Called where the HTTP client did not take the request. */
  onUnsent: (error: unknown) => void
}

interface Connection {
  readonly client: Client | ProxyAgent
  isBusy: boolean
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions
  readonly handler: RequestHandler
}

/**
 * Kept-alive connections, with one request at a time on each. The first idle one is taken, so that a few stay warm and
 * the others can time out. When all are busy a new one is opened; beyond the maximum a request waits.
 *
 * The HTTP client has a pool of its own, but that counts a connection as idle only one turn after its answer. An order
 * that follows from a ticker answer would have to open a new connection.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #connections: Connection[] = []
  /** Bounded by the calls in flight, each of which has a deadline. */
  readonly #waiting: Waiting[] = []
  readonly #sockets = new Set<Socket>()
  readonly #connect: ReturnType<typeof buildConnector>
  #isClosed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const connect = buildConnector({ allowH2: false, timeout: options.connectTimeoutMs })
    this.#connect = (target, callback) => this.#follow(connect(target, callback))
  }

  /** @throws when everything is closed, or what the HTTP client throws for a request that it does not take. */
  dispatch(request: Dispatcher.DispatchOptions, handler: RequestHandler): void {
    if (this.#isClosed) throw new Error('the connections are closed')
    const idle = this.#connections.find((connection) => !connection.isBusy) ?? this.#open()
    if (idle === undefined) this.#waiting.push({ request, handler })
    else this.#dispatchOn(idle, { request, handler })
  }

  /** Waits for the requests that are being carried, then closes everything. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#connections.map(({ client }) => closeClient(client)))
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Keeps the socket, to destroy it at the end: the HTTP client leaves an attempt to connect open, which keeps the process alive. */
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

  #dispatchOn(connection: Connection, { request, handler }: Waiting): void {
    connection.isBusy = true
    handler.onFree = () => {
      const next = this.#waiting.shift()
      connection.isBusy = next !== undefined
      // Not in this turn: after a failed connection the HTTP client must first finish with this request.
      if (next !== undefined) queueMicrotask(() => this.#carryOn(connection, next))
    }
    const { origin, proxy } = this.#options
    // A tunnel is told where it leads with each request.
    connection.client.dispatch(proxy ? { ...request, origin } : request, handler)
  }

  /** Dispatches a request that waited. What the HTTP client throws goes to its handler: its caller has returned. */
  #carryOn(connection: Connection, waiting: Waiting): void {
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
