import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { makeDirectory } from '../../lib/durable-file.ts'
import { objectToPath, shortPath } from '../../lib/net/socket-path.ts'

/** The longest argument of a tool is a list of 50 parameters. */
const BODY_BYTES_MAX = 65_536
const CONNECTIONS_MAX = 64

/**
 * Serves assistants by streamable HTTP at a socket that only this user opens. The control port of
 * the daemon checks Host, Origin and token, and passes their requests on to it.
 */
export class AgentListener {
  readonly #socket: string
  readonly #handler: ReturnType<typeof createMcpHandler>
  readonly #server: Server

  constructor(socket: string, create: () => McpServer) {
    this.#socket = socket
    this.#handler = createMcpHandler(create, {
      maxRequestBodySize: BODY_BYTES_MAX,
      // No tool and no page changes while this process runs.
      maxSubscriptions: 1,
    })
    const listen = getRequestListener((request) => this.#handler.fetch(request))
    this.#server = createServer((incoming, outgoing) => void listen(incoming, outgoing))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Undefined: it listens. @throws the error of the file system */
  async start(): Promise<string | undefined> {
    const tooLong = objectToPath(this.#socket)
    if (tooLong !== undefined) return `${tooLong}; choose a shorter state.directory`
    if (await isListening(this.#socket))
      return `another \`intentd mcp --http\` serves at ${this.#socket}: stop it first`
    makeDirectory(dirname(this.#socket), 0o700)
    rmSync(this.#socket, { force: true })
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail).listen(shortPath(this.#socket), done)
    })
    chmodSync(this.#socket, 0o600)
    return undefined
  }

  async stop(): Promise<void> {
    await this.#handler.close()
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
    rmSync(this.#socket, { force: true })
  }
}

function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const attempt = connect(shortPath(socket))
    const end = (answers: boolean): void => {
      attempt.destroy()
      resolve(answers)
    }
    attempt.once('connect', () => end(true)).once('error', () => end(false))
  })
}
