import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The exchange has done what was asked. */
export type Misanswer = (answer: string, response: ServerResponse) => void

const JSON_TYPE = { 'content-type': 'application/json;charset=UTF-8' }
const MEGABYTE = 1_048_576

export const MISANSWERS = {
  html: (_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<html><h1>Just a moment…</h1></html>')
  },
  forbidden: (_, response) => {
    response
      .writeHead(403, { 'content-type': 'text/html' })
      .end('<html><h1>Access denied</h1></html>')
  },
  refusedAddress: (_, response) => {
    response
      .writeHead(400, JSON_TYPE)
      .end('{"code":"40018","msg":"Invalid IP","requestTime":0,"data":null}')
  },
  garbage: (answer, response) => {
    response.writeHead(200, JSON_TYPE).end(answer.replaceAll(':', '='))
  },
  /** Looks like a success without data. */
  empty: (_, response) => {
    response.writeHead(200, JSON_TYPE).end('{"code":"00000","msg":"success","data":null}')
  },
  tenMegabytes: (_, response) => {
    response.writeHead(200, JSON_TYPE)
    response.end(`{"code":"00000","data":"${'x'.repeat(10 * MEGABYTE)}"}`)
  },
  oneByteASecond: (answer, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(answer)) })
    let sent = 0
    const timer = setInterval(() => response.write(answer[sent++] ?? ''), 1000)
    response.write(answer[sent++] ?? '')
    response.once('close', () => clearInterval(timer))
  },
  redirect: (_, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end()
  },
  cutShort: (answer, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(answer)) })
    response.write(answer.slice(0, answer.length / 2), () => response.destroy())
  },
} satisfies Record<string, Misanswer>

export interface SeenRequest {
  /** Last part of the path: `batch-place-order`. */
  readonly name: string
  /** Monotonic ms. */
  readonly at: number
  readonly isMisanswered: boolean
}

export interface HostileProxyOptions {
  readonly target: string
  readonly misanswer: Misanswer
  /** 0: only spoilt ones. */
  readonly every: number
  /** Endpoints with only right answers. */
  readonly spared?: readonly string[]
}

export class HostileProxy {
  readonly seen: SeenRequest[] = []
  /** Number of next answers to spoil, by endpoint. */
  readonly spoilt = new Map<string, number>()
  /** Answers or cuts a request itself, so that the exchange never gets it. */
  withholds: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  readonly #options: HostileProxyOptions
  readonly #server: Server
  #hasRelented = false
  readonly #counts = new Map<string, number>()

  private constructor(options: HostileProxyOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy())
    })
  }

  static async start(options: HostileProxyOptions): Promise<HostileProxy> {
    const proxy = new HostileProxy(options)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  misanswered(name: string): number {
    return this.seen.filter((request) => request.name === name && request.isMisanswered).length
  }

  /** The next caller must connect anew. */
  cutConnections(): void {
    this.#server.closeAllConnections()
  }

  relent(): void {
    this.#hasRelented = true
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.withholds(request, response)) return
    const { method = 'GET', url = '/', headers } = request
    const isMisanswered = this.#note(url)
    const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers
    const answer = await fetch(`${this.#options.target}${url}`, {
      method,
      headers: Object.entries(passed).map(
        ([name, value]) => [name, String(value)] as [string, string],
      ),
      ...(method === 'GET' ? {} : { body: await text(request) }),
    })
    const body = await answer.text()
    if (response.destroyed) return // Whoever asked has gone.
    if (isMisanswered) this.#options.misanswer(body, response)
    else response.writeHead(answer.status, JSON_TYPE).end(body)
  }

  #note(url: string): boolean {
    const [path = ''] = url.split('?')
    const name = path.slice(path.lastIndexOf('/') + 1)
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    const { every, spared = [] } = this.#options
    const spoilt = this.spoilt.get(name) ?? 0
    this.spoilt.set(name, Math.max(0, spoilt - 1))
    const isMisanswered =
      spoilt > 0 || (!this.#hasRelented && count % every === 1 && !spared.includes(name))
    this.seen.push({ name, at: performance.now(), isMisanswered })
    return isMisanswered
  }
}
