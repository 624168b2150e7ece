import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as callPlain, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import {
  createServer as createTlsServer,
  getCACertificates,
  type Server as TlsServer,
  setDefaultCACertificates,
} from 'node:tls'

/** Reason to skip tests that need a certificate. */
export const opensslMissing =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'no openssl'

/**
 * - `pass`: carries on.
 * - a number: answers with this status.
 * - `hang`: takes the connection and answers nothing.
 * - `hangBehind`: answers 200 to CONNECT, and carries nothing on.
 * - `drop`: closes the connection instead of an answer.
 */
export type ProxyMood = 'pass' | 'hang' | 'hangBehind' | 'drop' | number

export class TestProxy {
  mood: ProxyMood = 'pass'
  /** Requests in its terms: `CONNECT exchange.test:443`. */
  readonly asked: string[] = []
  readonly logins: (string | undefined)[] = []
  readonly #server: Server = createServer()
  readonly #sockets = new Set<Socket>()
  #upstreamPort = 0

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** @param upstreamPort port of this machine for any requested host */
  async open(upstreamPort: number): Promise<void> {
    this.#upstreamPort = upstreamPort
    this.#server.on('connection', (socket) => this.#keep(socket))
    this.#server.on('connect', (request, socket: Socket) => this.#tunnel(request, socket))
    this.#server.on('request', (request, response) => {
      this.#note(request)
      if (this.mood === 'hang') return
      if (typeof this.mood === 'number') return void response.writeHead(this.mood).end()
      const { method, url = '', headers } = request
      const { pathname, search } = new URL(url)
      const target = {
        host: '127.0.0.1',
        port: this.#upstreamPort,
        path: pathname + search,
        method,
        headers,
      }
      const onward = callPlain(target, (answer) => {
        response.writeHead(answer.statusCode ?? 502)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Breaks every connection that stands. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #note({ method, url, headers }: IncomingMessage): void {
    this.asked.push(`${method} ${url}`)
    this.logins.push(headers['proxy-authorization'])
  }

  #tunnel(request: IncomingMessage, socket: Socket): void {
    this.#note(request)
    this.#keep(socket)
    if (this.mood === 'hang') return
    if (this.mood === 'drop') return void socket.destroy()
    if (typeof this.mood === 'number') return void socket.end(`HTTP/1.1 ${this.mood} No\r\n\r\n`)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (this.mood === 'hangBehind') return
    const onward = connect(this.#upstreamPort, '127.0.0.1')
    this.#keep(onward)
    socket.pipe(onward).pipe(socket)
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

/** No name server knows this name of the certificate, so only the proxy finds the way. */
export const EXCHANGE_HOST = 'exchange.test'

function makeCertificate(host: string): string {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-noenc',
    '-keyout',
    '-',
    '-out',
    '-',
  ]
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', '2']
  return spawnSync('openssl', ['req', '-x509', ...key, ...subject], { encoding: 'utf8' }).stdout
}

export class SecureFront {
  /** PEM; callers must trust it. */
  readonly certificate = makeCertificate(EXCHANGE_HOST)
  readonly #sockets = new Set<Socket>()
  readonly #server: TlsServer

  constructor(plainPort: number) {
    this.#server = createTlsServer({ key: this.certificate, cert: this.certificate }, (socket) => {
      const onward = connect(plainPort, '127.0.0.1')
      for (const one of [socket, onward]) {
        this.#sockets.add(one)
        one.on('error', () => undefined)
        one.on('close', () => this.#sockets.delete(one))
      }
      socket.pipe(onward).pipe(socket)
      socket.on('close', () => onward.destroy())
      onward.on('close', () => socket.destroy())
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** This process trusts its certificate until it is closed. */
export class TestExchange {
  readonly bodies: string[] = []
  /** `false` prevents the answer. */
  onRequest: () => boolean = () => true
  readonly #server: SecureServer
  readonly #trusted = getCACertificates('default')

  constructor(host = EXCHANGE_HOST) {
    const made = makeCertificate(host)
    this.#server = createSecureServer({ key: made, cert: made }, (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        this.bodies.push(body)
        if (!this.onRequest()) return
        response.setHeader('content-type', 'application/json')
        response.end('{"code":"00000","msg":"success","requestTime":1,"data":[]}')
      })
    })
    setDefaultCACertificates([...this.#trusted, made])
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    setDefaultCACertificates(this.#trusted)
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
