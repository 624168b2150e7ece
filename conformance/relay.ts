import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo } from 'node:net'

/** A request on its way, for a case that wants to change it behind the client's back. */
export interface Passing {
  /** Path and query. */
  url: string
  headers: Record<string, string>
  body: string
}

/** What a request was and what came of it. */
export interface Seen {
  readonly method: string
  /** Path and query, as the client wrote them. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The answer's own code; empty when it is not an envelope. */
  readonly code: string
  readonly message: string
  readonly body: string
}

/**
 * Stands between a client and the simulator, because clients tell little of what came over the wire: it
 * notes the HTTP status and the code of every answer, and can tamper with requests as nobody should.
 */
export class Relay {
  readonly #server = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing))
  readonly #agent = new Agent({ keepAlive: true })
  readonly #target: URL
  /** Newest last; at most {@link SEEN_MAX}. */
  readonly seen: Seen[] = []
  /** Changes each request before it goes on. */
  tamper: ((passing: Passing) => void) | undefined

  constructor(target: string) {
    this.#target = new URL(target)
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  async stop(): Promise<void> {
    this.#agent.destroy()
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  /** The latest answer. */
  get last(): Seen {
    const last = this.seen.at(-1)
    if (last === undefined) throw new Error('nothing has passed yet')
    return last
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const passing = await readPassing(incoming)
      const url = passing.url
      this.tamper?.(passing)
      const answer = await this.#forward(incoming.method ?? 'GET', passing)
      this.#note({ method: incoming.method ?? 'GET', url, ...answer })
      outgoing.writeHead(answer.status, withoutLength(answer.headers))
      outgoing.end(answer.body)
    } catch {
      outgoing.destroy()
    }
  }

  #forward(method: string, { url, headers, body }: Passing): Promise<Answered> {
    const { hostname, port } = this.#target
    return new Promise((resolve, reject) => {
      const sent = sendRequest(
        { hostname, port, method, path: url, headers, agent: this.#agent },
        (answer) => {
          readText(answer)
            .then((text) =>
              resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
            )
            .catch(reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  #note(answered: { readonly method: string; readonly url: string } & Answered): void {
    if (this.seen.length >= SEEN_MAX) this.seen.shift()
    this.seen.push({ ...answered, ...readEnvelope(answered.body) })
  }
}

const SEEN_MAX = 1000

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

async function readPassing(incoming: IncomingMessage): Promise<Passing> {
  const body = await readText(incoming)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) headers[name] = value
  }
  return { url: incoming.url ?? '/', headers, body }
}

/** Between two neighbours only; a body's length is written anew. */
const HOP_BY_HOP = new Set([
  'connection',
  'host',
  'content-length',
  'transfer-encoding',
  'keep-alive',
])

function withoutLength(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) kept[name] = value
  }
  return kept
}

async function readText(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function readEnvelope(body: string): { readonly code: string; readonly message: string } {
  try {
    const { code, msg, message } = JSON.parse(body) as Record<string, unknown>
    return { code: textOf(code), message: textOf(msg) || textOf(message) }
  } catch {
    return { code: '', message: '' }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
