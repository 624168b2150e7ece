import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { request } from '../../lib/net/node-http.ts'
import { shortPath } from '../../lib/net/socket-path.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { answerError, GUARD_HEADERS } from '../access/plain-answer.ts'
import { collectBody } from './collect-body.ts'
import { AGENT_PATH, AGENT_POWERS_HEADER, type ServedAgents } from '../powers.ts'

/** A call of research may take ten minutes, and each call holds two sockets. */
const OPEN_MAX = 16
const BODY_BYTES_MAX = 65_536
/** Headers of the protocol. The token is not passed on. */
const PASSED_ON = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
/** After a restart or a reload, the server of assistants is back within seconds. */
const RETRY_AFTER = { 'Retry-After': '2' }
const UNSERVED =
  'no assistant is served now: `intentd mcp --http` has to run beside the daemon, with the same configuration'
const LEFT = 'the daemon ends or reloads its configuration: send it again'
const SERVER_ERROR = -32_000

interface AgentRelayOptions {
  readonly agents: ServedAgents
  readonly onRefused: (why: string) => void
}

/**
 * Passes requests of assistants on to `intentd mcp --http`. The daemon does not read them, and runs
 * none of their commands.
 */
export class AgentRelay {
  readonly #options: AgentRelayOptions
  readonly #open = new Set<RelayedRequest>()
  #isStopped = false

  constructor(options: AgentRelayOptions) {
    this.#options = options
  }

  pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#isStopped) return answerError(outgoing, LEFT, { status: 503, headers: RETRY_AFTER })
    if (this.#open.size >= OPEN_MAX) {
      const error = `${OPEN_MAX} requests are open already`
      this.#options.onRefused(error)
      return answerError(outgoing, error, { status: 429, headers: RETRY_AFTER })
    }
    const relayed = new RelayedRequest(this.#options.agents, outgoing)
    this.#open.add(relayed)
    outgoing.once('close', () => {
      this.#open.delete(relayed)
      relayed.end()
    })
    collectBody(incoming, BODY_BYTES_MAX, (body) => relayed.send(incoming, body?.toString()))
  }

  /** Clients that wait for an answer are told to send the request again. */
  stop(): void {
    this.#isStopped = true
    for (const relayed of this.#open) relayed.leave()
  }
}

/**
 *     waiting ──first bytes of the answer──► answering ──its end──► over
 *     waiting ──no server, leave()──► over, with 503
 *     answering ──leave()──► over, with an error in place of the rest
 */
class RelayedRequest {
  readonly #agents: ServedAgents
  readonly #outgoing: ServerResponse
  #request: ClientRequest | undefined
  #body = ''
  #isStream = false

  constructor(agents: ServedAgents, outgoing: ServerResponse) {
    this.#agents = agents
    this.#outgoing = outgoing
  }

  /** @param body undefined if it is too long */
  send({ headers, method }: IncomingMessage, body: string | undefined): void {
    const outgoing = this.#outgoing
    if (outgoing.destroyed || outgoing.writableEnded) return
    if (body === undefined) {
      const tooLarge = { status: 413, headers: { Connection: 'close' } }
      return answerError(outgoing, 'the body is too large', tooLarge)
    }
    this.#body = body
    const passed = PASSED_ON.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    const { socket, powers } = this.#agents
    this.#request = request(
      {
        socketPath: shortPath(socket),
        // A restarted server has closed the connections that were kept.
        agent: false,
        path: AGENT_PATH,
        method,
        headers: {
          host: 'localhost',
          ...Object.fromEntries(passed),
          [AGENT_POWERS_HEADER]: powers.join(','),
          'content-length': Buffer.byteLength(body),
        },
      },
      (answered) => this.#take(answered),
    )
    this.#request.on('error', () => this.#refuse(UNSERVED))
    this.#request.end(body)
  }

  /**
   * The head is sent with the first bytes of the body, so that the request can be refused until
   * then.
   */
  #take(answered: IncomingMessage): void {
    const outgoing = this.#outgoing
    const type = answered.headers['content-type']
    this.#isStream = type?.startsWith('text/event-stream') === true
    answered.on('error', () => this.leave())
    answered.on('data', (chunk: Buffer) => {
      if (outgoing.destroyed || outgoing.writableEnded) return
      this.#begin(answered)
      if (outgoing.write(chunk)) return
      answered.pause()
      outgoing.once('drain', () => answered.resume())
    })
    answered.once('end', () => {
      if (outgoing.destroyed || outgoing.writableEnded) return
      this.#begin(answered)
      outgoing.end()
    })
  }

  #begin({ statusCode = 502, headers }: IncomingMessage): void {
    if (this.#outgoing.headersSent) return
    const type = headers['content-type']
    this.#outgoing.writeHead(statusCode, {
      ...GUARD_HEADERS,
      ...(type !== undefined && { 'Content-Type': type }),
    })
  }

  leave(): void {
    const outgoing = this.#outgoing
    if (!outgoing.headersSent) return this.#refuse(LEFT)
    const id = this.#isStream ? idOf(this.#body) : undefined
    // A client that has the head of an answer waits for its message, even if the connection ends.
    if (id !== undefined && !outgoing.writableEnded) {
      const error = { code: SERVER_ERROR, message: LEFT }
      outgoing.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`)
    }
    outgoing.end()
  }

  #refuse(error: string): void {
    if (this.#outgoing.headersSent) return this.leave()
    answerError(this.#outgoing, error, { status: 503, headers: RETRY_AFTER })
  }

  end(): void {
    this.#request?.destroy()
  }
}

/** Undefined for a message that expects no answer. */
function idOf(body: string): unknown {
  try {
    const message = parseBoundedJson(body)
    return isRecord(message) ? message['id'] : undefined
  } catch {
    return undefined
  }
}
