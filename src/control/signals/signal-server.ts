import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from '../../lib/net/node-http.ts'
import {
  ConnectionBounds,
  connectionsMaxOf,
  SIGNAL_CONNECTIONS_MAX,
} from '../access/connection-bounds.ts'
import { SIGNAL_BYTES_MAX } from './signal-body.ts'
import type { Admission, ProvedSignal, SignalAnswer, SignalGuard } from './signal-guard.ts'
import { listenAt } from '../front/http-server.ts'
import { collectBody } from '../front/collect-body.ts'

const REQUEST_MS_MAX = 5000
const HEADER_BYTES_MAX = 8192
const PATH = /^\/signals\/([a-zA-Z][a-zA-Z0-9]{0,31})$/

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
}

export interface SignalServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly guard: Pick<SignalGuard, 'admit' | 'prove'>
  readonly monotonic: () => number
  /** If it rejects, the connection is closed without an answer. */
  readonly take: (signal: ProvedSignal) => Promise<SignalAnswer>
  readonly onBroken: (reason: string) => void
  readonly onClosed: (why: string) => void
}

/**
 * Takes `POST /signals/NAME` and nothing else, at a port of its own, so that a tunnel to it opens
 * nothing else. Its failures never stop trading.
 */
export class SignalServer {
  readonly #options: SignalServerOptions
  #server: Server | undefined

  constructor(options: SignalServerOptions) {
    this.#options = options
  }

  /** @returns the port @throws if it cannot be opened */
  async start(): Promise<number> {
    const { host, port, monotonic, onClosed, onBroken } = this.#options
    const places = SIGNAL_CONNECTIONS_MAX
    const bounds = new ConnectionBounds({ monotonic, onClosed, places })
    const server = createServer(
      {
        headersTimeout: REQUEST_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        connectionsCheckingInterval: 1000,
        maxHeaderSize: HEADER_BYTES_MAX,
      },
      (incoming, outgoing) => this.#hear(incoming, outgoing, bounds),
    )
    server.maxConnections = connectionsMaxOf(SIGNAL_CONNECTIONS_MAX)
    // A second request on the connection would be taken and not answered.
    server.maxRequestsPerSocket = 1
    server.on('connection', (socket) => bounds.add(socket))
    this.#server = server
    return listenAt(server, { host, port }, onBroken)
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    server?.closeAllConnections()
    if (server) await new Promise((resolve) => server.close(resolve))
  }

  #hear(incoming: IncomingMessage, outgoing: ServerResponse, bounds: ConnectionBounds): void {
    const name = PATH.exec(incoming.url ?? '')?.[1]
    if (name === undefined || incoming.method !== 'POST')
      return send(outgoing, { status: 404, body: { error: 'only POST /signals/NAME' } })
    const { guard } = this.#options
    const admission = guard.admit(name, secretOf(incoming))
    if (admission.kind === 'closed') return send(outgoing, admission.answer)
    bounds.note(incoming.socket, admission.isProved ? 'full' : 'nobody')
    collectBody(incoming, SIGNAL_BYTES_MAX, (bytes) => this.#take(admission, bytes, outgoing))
  }

  #take(
    admission: Extract<Admission, { readonly kind: 'open' }>,
    bytes: Uint8Array | undefined,
    outgoing: ServerResponse,
  ): void {
    const { guard, take } = this.#options
    const proved = guard.prove(admission, bytes)
    if (proved.kind === 'closed') return send(outgoing, proved.answer)
    void take(proved.signal).then(
      (answer) => send(outgoing, answer),
      () => outgoing.destroy(),
    )
  }
}

function secretOf({ headers }: IncomingMessage): string | undefined {
  const own = headers['x-signal-secret']
  if (typeof own === 'string') return own
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Does not wait for the rest of a body. */
function send(outgoing: ServerResponse, { status, retryAfter, body }: SignalAnswer): void {
  if (outgoing.destroyed) return
  if (retryAfter !== undefined) outgoing.setHeader('Retry-After', retryAfter)
  outgoing.writeHead(status, HEADERS)
  outgoing.end(`${JSON.stringify(body)}\n`, () => outgoing.req.socket.destroySoon())
}
