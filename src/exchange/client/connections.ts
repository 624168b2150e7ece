import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type Undici from 'undici'
import type { Client, Dispatcher, ProxyAgent } from 'undici'
import { type ForwardProxy, openTunnel } from '../../lib/net/proxy.ts'

/** All of undici would cost a start 60 ms and 14 MB more. */
const part = createRequire(import.meta.url)
const HttpClient = part('undici/lib/dispatcher/client.js') as typeof Undici.Client
const buildConnector = part('undici/lib/core/connect.js') as typeof Undici.buildConnector

export interface ConnectionsOptions {
  readonly origin: string
  readonly connectionsMax: number
  readonly connectTimeoutMs: number
  readonly client: Client.Options
  readonly proxy?: ForwardProxy | undefined
}

export interface RequestHandler extends Dispatcher.DispatchHandler {
  /** Must be called once, when the HTTP client is done with the request. */
  onFree: () => void
  onUnsent: (error: unknown) => void
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
 * Kept-alive connections with one request each. The first idle one is taken, so that a few stay
 * warm and others time out; at the maximum, requests wait.
 *
 * undici's pool counts a connection as idle only one turn after its answer, so an order after a
 * ticker answer would open a new one.
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
      // A failed connection's request must first be done with in the HTTP client.
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
