import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PAGE_PATHS } from '../../dashboard/page-files.ts'
import { servePage } from './serve-page.ts'
import { RateBucket } from '../../lib/rate-bucket.ts'
import { AGENT_PATH, COMMANDS_PATH } from '../powers.ts'
import type { ConnectionBounds } from '../access/connection-bounds.ts'
import { type Entrance, refuseHead } from '../access/guard.ts'
import { type Peer, peerOf } from '../access/peer.ts'
import { answerError, answerJson } from '../access/plain-answer.ts'
import { NONCE, PROOF_PATH, proveTokens } from '../access/server-proof.ts'
import type { PassedRequests } from './passed-requests.ts'

/** The application could read any other path differently than this thread. */
const PLAIN_PATH = /^\/(?:[\w-]+(?:\.[\w-]+)*(?:\/[\w-]+(?:\.[\w-]+)*)*)?$/
const NO_PATH = 'there is no such path; /docs lists them'
const SERVED: readonly string[] = ['GET', 'HEAD', 'POST']
const ONLY_SERVED = `only ${SERVED.join(', ')}`
const ALLOW = { Allow: SERVED.join(', ') }
const NO_NONCE = 'nonce: 32 to 128 hexadecimal digits'
const PAGE: ReadonlySet<string> = new Set(PAGE_PATHS)

interface Rate {
  readonly perMinute: number
  readonly burst: number
}

/**
 * A page that is opened requests 60 files and ten views at once, and then two views a second. A
 * tool call of an assistant is one request, and a program makes four when it starts.
 */
const RATES: Readonly<Record<Peer, Rate>> = {
  full: { perMinute: 1200, burst: 120 },
  read: { perMinute: 1200, burst: 120 },
  agent: { perMinute: 300, burst: 60 },
  nobody: { perMinute: 1200, burst: 120 },
}

/** With these rates there is a place again within a second. */
const RETRY_AFTER = { 'Retry-After': '1' }
/** So much of a refused body is read; if it is longer, the connection is closed. */
const UNREAD_BYTES_MAX = 65_536

export interface HeadGateOptions {
  readonly entrance: Entrance
  readonly monotonic: () => number
  readonly bounds: ConnectionBounds
  readonly passed: Pick<PassedRequests, 'answerInCommon' | 'pass' | 'passHealth'>
  readonly relay: RequestListener | undefined
  readonly onRefused: (why: string) => void
}

/**
 * Decides on the head of a request, before its body is read (docs/control.md, "What protects it").
 * The rate of commands is counted later, once the body has shown their kind.
 */
export class HeadGate {
  readonly #options: HeadGateOptions
  readonly #rates: Readonly<Record<Peer, RateBucket>>
  readonly #busy = new WeakSet<Socket>()

  constructor(options: HeadGateOptions) {
    this.#options = options
    const rate = ({ perMinute, burst }: Rate): RateBucket =>
      new RateBucket(perMinute, options.monotonic, burst)
    const { full, read, agent, nobody } = RATES
    this.#rates = { full: rate(full), read: rate(read), agent: rate(agent), nobody: rate(nobody) }
  }

  hear(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { entrance, relay, passed } = this.#options
    incoming.url = pathOf(incoming.url ?? '')
    const [path = ''] = incoming.url.split('?', 1)
    const isCommand = path === COMMANDS_PATH && incoming.method === 'POST'
    if (!this.#isAlone(incoming.socket, outgoing)) return
    const { headers, method = '' } = incoming
    const peer = peerOf(headers.authorization, entrance.tokens)
    this.#options.bounds.note(incoming.socket, peer)
    const refused = refuseHead(
      { method, path, header: (name) => textOf(headers[name]) },
      entrance,
      peer,
    )
    if (refused !== undefined) {
      const headersOf401 = refused.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
      return this.#refuse(incoming, outgoing, { ...refused, headers: headersOf401 })
    }
    if (!SERVED.includes(method))
      return this.#refuse(incoming, outgoing, { status: 405, why: ONLY_SERVED, headers: ALLOW })
    if (!PLAIN_PATH.test(path)) return answerError(outgoing, NO_PATH, { status: 404 })
    if (isHealth(incoming)) return passed.passHealth(incoming, outgoing)
    if (this.#answerProof(incoming, outgoing) || passed.answerInCommon(incoming, outgoing)) return
    if (!isCommand && !this.#rates[peer].take()) {
      const why = `more than ${RATES[peer].perMinute} requests a minute`
      return this.#refuse(incoming, outgoing, { status: 429, why, headers: RETRY_AFTER })
    }
    if (isCommand) this.#hold(incoming, outgoing)
    const isOfAgent = path === AGENT_PATH && method === 'POST' && relay !== undefined
    if (isOfAgent) relay(incoming, outgoing)
    else if (method !== 'POST' && PAGE.has(path)) void servePage(incoming, outgoing, path)
    else passed.pass(incoming, outgoing)
  }

  /** Nothing else would bound requests that are sent behind an unanswered one. */
  #isAlone(socket: Socket, outgoing: ServerResponse): boolean {
    if (this.#busy.has(socket)) {
      this.#options.onRefused('a request behind one that is not answered yet')
      socket.destroy()
      return false
    }
    this.#busy.add(socket)
    outgoing.once('close', () => this.#busy.delete(socket))
    return true
  }

  /** A command has its place from its last byte on, so that a slow sender has none. */
  #hold(incoming: IncomingMessage, outgoing: ServerResponse): void {
    incoming.once('end', () => {
      outgoing.once('close', this.#options.bounds.hold(incoming.socket))
    })
  }

  /**
   * Costs two digests and has no rate: a page that is refused a proof during a flood would not send
   * its kill.
   */
  #answerProof({ url = '', method }: IncomingMessage, outgoing: ServerResponse): boolean {
    const { tokens } = this.#options.entrance
    const [path, query] = url.split('?', 2)
    if (method !== 'GET' || path !== PROOF_PATH || tokens === undefined) return false
    const nonce = new URLSearchParams(query).get('nonce') ?? ''
    if (NONCE.test(nonce)) answerJson(outgoing, JSON.stringify(proveTokens(tokens, nonce)))
    else answerError(outgoing, NO_NONCE, { status: 400 })
    return true
  }

  #refuse(
    { headers }: IncomingMessage,
    outgoing: ServerResponse,
    { status, why, headers: more }: RefusedRequest,
  ): void {
    this.#options.onRefused(why)
    const isLong =
      headers['transfer-encoding'] !== undefined ||
      Number(headers['content-length'] ?? 0) > UNREAD_BYTES_MAX
    const closing = isLong ? { Connection: 'close' } : {}
    answerError(outgoing, why, { status, headers: { ...more, ...closing } })
  }
}

interface RefusedRequest {
  readonly status: number
  readonly why: string
  readonly headers: Readonly<Record<string, string>>
}

/** Readiness with its reasons is a look like any other. */
function isHealth({ url, method }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && (url === '/livez' || url === '/readyz')
}

/** A target may name the host, as for a proxy; only the Host header is judged. */
function pathOf(target: string): string {
  const [, path] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
