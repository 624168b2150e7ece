import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type Undici from 'undici'
import type { Client, Dispatcher } from 'undici'

/** These two of its parts alone: all of undici costs a start 60 ms and 14 MB more (fetch, WebSocket, caches). */
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
}

/** Called when its connection is free again. */
export interface RequestHandler extends Dispatcher.DispatchHandler {
  /** Called once, when the HTTP client is done with the request, whatever became of it. */
  onFree: () => void
  /** Called instead where the HTTP client has not taken the request. */
  onUnsent: (error: unknown) => void
}

interface Connection {
  readonly client: Client
  isBusy: boolean
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions
  readonly handler: RequestHandler
}

/**
 * Kept-alive connections, one request at a time on each. The first idle one is taken, so that a few stay warm
 * and the rest falls asleep; a new one is opened when all are busy, and beyond the maximum a request waits.
 *
 * The HTTP client has a pool of its own, which does not count a connection as idle until a turn after its
 * answer: a call that follows from an answer (a tick, then an order) would open a cold one.
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

  /** The HTTP client lets an attempt to connect go on after it was closed, and the process with it. */
  #follow(socket: unknown): void {
    if (!(socket instanceof Socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #open(): Connection | undefined {
    const { origin, connectionsMax, client } = this.#options
    if (this.#connections.length >= connectionsMax) return undefined
    const connection = {
      client: new HttpClient(origin, { ...client, connect: this.#connect }),
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
      // Not in this turn: a client whose connection failed wants to see itself without a request first.
      if (next !== undefined) queueMicrotask(() => this.#carryOn(connection, next))
    }
    connection.client.dispatch(request, handler)
  }

  /** One that has waited: nobody is there any more who would take what the HTTP client throws. */
  #carryOn(connection: Connection, waiting: Waiting): void {
    try {
      this.#dispatchOn(connection, waiting)
    } catch (error) {
      waiting.handler.onUnsent(error)
    }
  }
}

async function closeClient(client: Client): Promise<void> {
  if (client.destroyed) return
  await client.close()
  await client.destroy()
}
