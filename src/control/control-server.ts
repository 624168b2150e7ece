import { chmodSync, existsSync, rmSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { messageOf } from '../lib/failure.ts'
import { inNextTurn } from '../lib/timers.ts'
import { objectToPath, shortPath } from '../lib/net/socket-path.ts'
import { AgentRelay } from './agent-relay.ts'
import type { ControlAppOptions } from './control-app.ts'
import { ConnectionBounds, CONNECTIONS_MAX, connectionsMaxOf } from './access/connection-bounds.ts'
import type { Entrance } from './access/guard.ts'
import { HeadGate } from './access/head-gate.ts'
import { SharedAnswers } from './access/shared-answers.ts'
import { TurnQueue } from './access/turn-queue.ts'
import { Refusals } from './refusals.ts'
import { SessionCodes } from './access/session-codes.ts'
import type { ControlTokens } from './access/token-file.ts'

/** An import would also load Node's HTTP client, 35 ms of CPU at each start. */
const { createServer } = process.getBuiltinModule('node:http')

const HTTP_PORT = 80
const HEADERS_MS_MAX = 5000
const REQUEST_MS_MAX = 10_000
const KEEP_ALIVE_MS = 5000
const HEADER_BYTES_MAX = 16_384
/** They all belong to one user. */
const SOCKET_CONNECTIONS_MAX = 64

export interface ControlServerOptions extends Omit<
  ControlAppOptions,
  'entrance' | 'address' | 'refusals' | 'shared' | 'turns'
> {
  readonly onRefused: (why: string) => void
  readonly socket: string
  /** That of `intentd mcp --http`, to which the port leads assistants. */
  readonly agentSocket?: string | undefined
  /** Loopback; 0 takes any free port. */
  readonly port:
    | { readonly host: string; readonly number: number; readonly tokens: ControlTokens }
    | undefined
  /** The daemon goes on without this address. */
  readonly onUnreachable: (address: string, reason: string) => void
}

/** Its failures never stop trading. */
export class ControlServer {
  readonly #options: ControlServerOptions
  readonly #servers: Server[] = []
  readonly #codes: SessionCodes
  readonly #refusals: Refusals
  readonly #shared: SharedAnswers
  /** `http://127.0.0.1:8790`, while the port is open. */
  #baseUrl: string | undefined
  #relay: AgentRelay | undefined
  #isSocketOpen = false
  #isStopped = false
  #socketServer: Server | undefined

  constructor(options: ControlServerOptions) {
    this.#options = options
    this.#codes = new SessionCodes(options.monotonic)
    this.#refusals = new Refusals(options.onRefused)
    this.#shared = new SharedAnswers(options.monotonic)
  }

  /** Its code works once within a minute; undefined without a port. */
  newAddress(): string | undefined {
    return this.#baseUrl && `${this.#baseUrl}/#code=${this.#codes.issue()}`
  }

  get baseUrl(): string | undefined {
    return this.#baseUrl
  }

  /** Undefined while it is not open. */
  get socket(): string | undefined {
    return this.#isSocketOpen ? this.#options.socket : undefined
  }

  async start(): Promise<void> {
    const { socket, port } = this.#options
    await this.#listenAtSocket(socket)
    if (port !== undefined) await this.#listenAtPort(port)
  }

  /** Recreates a removed socket file. */
  async look(): Promise<void> {
    await this.#lookAtSocket()
    const { port } = this.#options
    if (port !== undefined && this.#baseUrl === undefined) await this.#listenAtPort(port, false)
  }

  async #lookAtSocket(): Promise<void> {
    const { socket, onUnreachable } = this.#options
    if (this.#socketServer === undefined || existsSync(socket)) return
    if (this.#isSocketOpen) onUnreachable(socket, 'its file has vanished; it is made again')
    // Open connections stay; the removed file admits no new ones.
    this.#socketServer.close()
    await this.#listenAtSocket(socket, this.#isSocketOpen)
  }

  /** Ends open streams too. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#baseUrl = undefined
    this.#socketServer = undefined
    const servers = this.#servers.splice(0)
    this.#relay?.stop()
    // The answers of the relay are sent in this turn.
    await new Promise<void>(inNextTurn)
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    if (servers.length > 0) rmSync(this.#options.socket, { force: true })
  }

  /** @param isNews a failure is reported */
  async #listenAtSocket(socket: string, isNews = true): Promise<void> {
    this.#isSocketOpen = false
    const tooLong = objectToPath(socket)
    if (tooLong !== undefined)
      return this.#options.onUnreachable(socket, `${tooLong}; choose a shorter state.directory`)
    try {
      // The state directory is locked, so an existing socket is of an ended run.
      rmSync(socket, { force: true })
      const path = shortPath(socket)
      const entrance: Entrance = { via: 'socket', hosts: [], tokens: undefined }
      this.#socketServer = await this.#listen(entrance, (server, then) => server.listen(path, then))
      chmodSync(socket, 0o600)
      this.#isSocketOpen = true
    } catch (error) {
      if (isNews) this.#options.onUnreachable(socket, messageOf(error))
    }
  }

  async #listenAtPort(
    { host, number, tokens }: NonNullable<ControlServerOptions['port']>,
    isNews = true,
  ): Promise<void> {
    if (this.#isStopped) return
    try {
      const hosts: string[] = []
      const entrance: Entrance = { via: 'port', hosts, tokens, codes: this.#codes }
      const server = await this.#listen(entrance, (one, then) =>
        one.listen({ host, port: number }, then),
      )
      if (this.#isStopped) return void server.close()
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : number
      const names = ['127.0.0.1', 'localhost', '[::1]']
      // A browser omits HTTP's default port from the Host.
      hosts.push(...names.map((name) => `${name}:${port}`), ...(port === HTTP_PORT ? names : []))
      this.#baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    } catch (error) {
      if (isNews) this.#options.onUnreachable(`${host}:${number}`, messageOf(error))
    }
  }

  async #listen(
    entrance: Entrance,
    listen: (server: Server, then: () => void) => void,
  ): Promise<Server> {
    const server = createServer({
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: HEADER_BYTES_MAX,
    })
    const gate = this.#createGate(entrance, this.#bound(server, entrance))
    server.on('request', (incoming, outgoing) => gate.hear(incoming, outgoing))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      listen(server, resolve)
    })
    // A broken control socket must not stop trading.
    server.on('error', (error) => this.#options.onBroken(messageOf(error)))
    this.#servers.push(server)
    server.once('close', () => this.#servers.splice(this.#servers.indexOf(server), 1))
    return server
  }

  /** At the socket all connections are alike. */
  #bound(server: Server, { via }: Entrance): ConnectionBounds | undefined {
    const refuse = (why: string): void => this.#refusals.add('connection', why)
    const isSocket = via === 'socket'
    server.maxConnections = isSocket ? SOCKET_CONNECTIONS_MAX : connectionsMaxOf(CONNECTIONS_MAX)
    server.on('drop', () => refuse(`more than ${server.maxConnections} connections`))
    if (isSocket) return undefined
    const bounds = new ConnectionBounds(refuse)
    server.on('connection', (socket) => bounds.add(socket))
    return bounds
  }

  #createGate(entrance: Entrance, bounds: ConnectionBounds | undefined): HeadGate {
    const { daemon, monotonic, agentSocket, onBroken } = this.#options
    const onRefused = (why: string): void => this.#refusals.add('request', why)
    if (entrance.tokens?.agent !== undefined && agentSocket !== undefined)
      this.#relay = new AgentRelay({ socket: agentSocket, onRefused })
    const relay = entrance.via === 'port' ? this.#relay : undefined
    const turns = new TurnQueue()
    return new HeadGate({
      entrance,
      bounds,
      monotonic,
      shared: this.#shared,
      isReady: () => daemon.readiness().isReady,
      relay: relay && ((incoming, outgoing) => relay.pass(incoming, outgoing)),
      turns,
      serve: this.#createListener(entrance, turns),
      onRefused,
      onBroken: (error) => onBroken(messageOf(error)),
    })
  }

  /** Without control clients a daemon starts sooner and is smaller. */
  #createListener(entrance: Entrance, turns: TurnQueue): RequestListener {
    const refusals = this.#refusals
    const options: ControlAppOptions = {
      ...this.#options,
      entrance,
      refusals,
      turns,
      shared: this.#shared,
      address: () => this.newAddress(),
    }
    let loading: Promise<RequestListener> | undefined
    const load = async (): Promise<RequestListener> => {
      const { listenForControl } = await import('./control-listener.ts')
      return listenForControl(options)
    }
    return (incoming, outgoing) => {
      void (loading ??= load()).then(
        (listener) => listener(incoming, outgoing),
        (error: unknown) => {
          loading = undefined
          this.#options.onBroken(messageOf(error))
          outgoing.destroy()
        },
      )
    }
  }
}
