import { once } from 'node:events'
import { createServer, type Server, type Socket, type AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly method: string
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers, or misbehaves, with the bare socket. */
export type WireScript = (request: ReceivedRequest, socket: Socket) => void

/**
 * A server of bare sockets for answers that no HTTP library would give. One script serves all
 * requests until another is set.
 */
export class WireServer {
  readonly requests: ReceivedRequest[] = []
  connections = 0
  script: WireScript = (_request, socket) => void socket.write(jsonAnswer({}))
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer((socket) => this.#accept(socket))
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(socket: Socket): void {
    this.connections++
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      const request = parseRequest(received)
      if (request === undefined) return
      received = ''
      this.requests.push(request)
      this.script(request, socket)
    })
  }
}

/** Undefined while bytes are missing. Requests are not pipelined. */
function parseRequest(received: string): ReceivedRequest | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = received.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = received.slice(headEnd + 4)
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined
  const [method = '', target = ''] = first.split(' ')
  return { method, target, headers, body: Buffer.from(body, 'latin1').toString('utf8') }
}

export interface RawAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

export function rawAnswer({ status = 200, headers = {}, body }: RawAnswer): Buffer {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`), bytes])
}

export function jsonAnswer(value: unknown, status = 200): Buffer {
  const headers = { 'content-type': 'application/json' }
  return rawAnswer({ status, headers, body: JSON.stringify(value) })
}

/** Document: Common conventions, 2. */
export function envelopeOf(
  data: unknown,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { code: '00000', msg: 'success', requestTime: 1_700_000_000_000, data, ...more }
}
