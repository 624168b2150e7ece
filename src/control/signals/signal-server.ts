import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { messageOf } from '../../lib/failure.ts'
import {
  ConnectionBounds,
  connectionsMaxOf,
  SIGNAL_CONNECTIONS_MAX,
} from '../access/connection-bounds.ts'
import { SIGNAL_BYTES_MAX } from './signal-body.ts'
import type { SignalAnswer, SignalGate } from './signal-gate.ts'

/** As in the control server: an import would also load Node's HTTP client. */
const { createServer } = process.getBuiltinModule('node:http')

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
  readonly gate: Pick<SignalGate, 'admit' | 'answer'>
  readonly onBroken: (reason: string) => void
  readonly onClosed: (why: string) => void
}

/**
 * Takes `POST /signals/NAME` and nothing else, at a port of its own: whatever leads there from
 * outside leads to nothing else. Its failures never stop trading.
 */
export class SignalServer {
  readonly #options: SignalServerOptions
  #server: Server | undefined
  #url: string | undefined

  constructor(options: SignalServerOptions) {
    this.#options = options
  }

  /** `http://127.0.0.1:8791`, while it listens. */
  get url(): string | undefined {
    return this.#url
  }

  /** @throws if the port cannot be had */
  async start(): Promise<void> {
    const { host, port, onClosed, onBroken } = this.#options
    const bounds = new ConnectionBounds(onClosed, SIGNAL_CONNECTIONS_MAX)
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
    // A second request behind the first would be taken and not answered.
    server.maxRequestsPerSocket = 1
    server.on('connection', (socket) => bounds.add(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, resolve)
    })
    server.on('error', (error) => onBroken(messageOf(error)))
    this.#server = server
    const address = server.address()
    const listening = typeof address === 'object' && address !== null ? address.port : port
    this.#url = `http://${host.includes(':') ? `[${host}]` : host}:${listening}`
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    this.#url = undefined
    server?.closeAllConnections()
    if (server) await new Promise((resolve) => server.close(resolve))
  }

  #hear(incoming: IncomingMessage, outgoing: ServerResponse, bounds: ConnectionBounds): void {
    const name = PATH.exec(incoming.url ?? '')?.[1]
    if (name === undefined || incoming.method !== 'POST')
      return send(outgoing, { status: 404, body: { error: 'only POST /signals/NAME' } })
    const { gate, onBroken } = this.#options
    const admission = gate.admit(name, secretOf(incoming))
    if (admission.kind === 'closed') return send(outgoing, admission.answer)
    if (admission.isProved) bounds.note(incoming.socket, 'full')
    collect(incoming, (bytes) => {
      void gate.answer(admission, bytes).then(
        (answer) => send(outgoing, answer),
        (error: unknown) => {
          onBroken(messageOf(error))
          outgoing.destroy()
        },
      )
    })
  }
}

function secretOf({ headers }: IncomingMessage): string | undefined {
  const own = headers['x-signal-secret']
  if (typeof own === 'string') return own
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Undefined for a body that is too long; never called for one that does not end. */
function collect(incoming: IncomingMessage, done: (bytes: Uint8Array | undefined) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  const take = (chunk: Buffer): void => {
    length += chunk.length
    if (length <= SIGNAL_BYTES_MAX) return void chunks.push(chunk)
    incoming.off('data', take)
    incoming.off('end', end)
    done(undefined)
  }
  const end = (): void => done(Buffer.concat(chunks))
  incoming.on('data', take)
  incoming.once('end', end)
  incoming.on('error', () => undefined)
}

/** Does not wait for the rest of a body. */
function send(outgoing: ServerResponse, { status, retryAfter, body }: SignalAnswer): void {
  if (outgoing.destroyed) return
  if (retryAfter !== undefined) outgoing.setHeader('Retry-After', retryAfter)
  outgoing.writeHead(status, HEADERS)
  outgoing.end(`${JSON.stringify(body)}\n`, () => outgoing.req.socket.destroySoon())
}
