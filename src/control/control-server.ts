import { chmodSync, existsSync, rmSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { messageOf } from '../lib/failure.ts'
import { objectToPath, shortPath } from '../lib/net/socket-path.ts'
import type { ControlAppOptions, LoadedApp } from './control-app.ts'
import type { Entrance } from './access/guard.ts'
import { answerError } from './access/plain-answer.ts'
import { TurnQueue } from './access/turn-queue.ts'
import { createControlServer, hostsOf } from './front/http-server.ts'
import { openPortThread, type OpenPort, ServedPort } from './front/served-port.ts'
import { COMMANDS_PATH, type ServedAgents } from './powers.ts'
import { Refusals } from './refusals.ts'
import { SessionCodes } from './access/session-codes.ts'
import type { ControlTokens } from './access/token-file.ts'

/** All clients of the socket belong to one user. */
const SOCKET_CONNECTIONS_MAX = 64

export interface ControlServerOptions extends Omit<
  ControlAppOptions,
  'entrance' | 'address' | 'refusals' | 'turns'
> {
  readonly onRefused: (why: string, count: number) => void
  readonly socket: string
  /** To whom the port leads assistants. */
  readonly agents?: ServedAgents | undefined
  /** Loopback; 0 takes any free port. */
  readonly port:
    | { readonly host: string; readonly number: number; readonly tokens: ControlTokens }
    | undefined
  /** Default: a thread. */
  readonly openPort?: OpenPort
  /** The daemon goes on without this address. */
  readonly onUnreachable: (address: string, reason: string) => void
}

export class ControlServer {
  readonly #options: ControlServerOptions
  readonly #codes: SessionCodes
  readonly #refusals: Refusals
  readonly #turns = new TurnQueue()
  /** `http://127.0.0.1:8790`, while the port is open. */
  #baseUrl: string | undefined
  #port: ServedPort | undefined
  #isSocketOpen = false
  #isStopped = false
  #socketServer: Server | undefined

  constructor(options: ControlServerOptions) {
    this.#options = options
    this.#codes = new SessionCodes(options.monotonic)
    this.#refusals = new Refusals(options.onRefused)
  }

  /** The code in the address works once, within a minute. Undefined without a port. */
  newAddress(): string | undefined {
    return this.#baseUrl && `${this.#baseUrl}/#code=${this.#codes.issue()}`
  }

  get baseUrl(): string | undefined {
    return this.#baseUrl
  }

  /** Undefined while the socket is not open. */
  get socket(): string | undefined {
    return this.#isSocketOpen ? this.#options.socket : undefined
  }

  async start(): Promise<void> {
    const { socket, port } = this.#options
    await this.#listenAtSocket(socket)
    if (port !== undefined) await this.#listenAtPort(port)
  }

  async look(): Promise<void> {
    await this.#lookAtSocket()
    const { port } = this.#options
    if (port !== undefined && this.#baseUrl === undefined) await this.#listenAtPort(port, false)
  }

  async #lookAtSocket(): Promise<void> {
    const { socket, onUnreachable } = this.#options
    if (this.#socketServer === undefined || existsSync(socket)) return
    if (this.#isSocketOpen) onUnreachable(socket, 'its file has vanished; it is made again')
    // Open connections stay; new ones need the file.
    this.#socketServer.close()
    await this.#listenAtSocket(socket, this.#isSocketOpen)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#baseUrl = undefined
    const [server, port] = [this.#socketServer, this.#port]
    this.#socketServer = undefined
    this.#port = undefined
    await Promise.all([server && closeServer(server), port?.stop()])
    if (server) rmSync(this.#options.socket, { force: true })
  }

  /** @param isNews a failure is reported */
  async #listenAtSocket(socket: string, isNews = true): Promise<void> {
    this.#isSocketOpen = false
    const tooLong = objectToPath(socket)
    if (tooLong !== undefined)
      return this.#options.onUnreachable(socket, `${tooLong}; choose a shorter state.directory`)
    try {
      // The state directory is locked, so an existing socket is of a run that has ended.
      rmSync(socket, { force: true })
      const path = shortPath(socket)
      this.#socketServer = await this.#listen((server, then) => server.listen(path, then))
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
    const { agents, onBroken, onUnreachable, openPort = openPortThread } = this.#options
    const hosts: string[] = []
    const served = new ServedPort({
      open: openPort,
      task: {
        host,
        port: number,
        tokens: {
          full: tokens.full.reveal(),
          read: tokens.read.reveal(),
          agent: tokens.agent?.reveal(),
        },
        agents,
      },
      turns: this.#turns,
      serve: this.#createApp({ via: 'port', hosts, tokens, codes: this.#codes }).fetch,
      onRefused: (kind, why, count) => this.#refusals.add(kind, why, count),
      onBroken,
      onEnded: (reason) => {
        if (this.#port !== served) return
        this.#port = undefined
        this.#baseUrl = undefined
        onUnreachable(`${host}:${number}`, reason)
      },
    })
    try {
      const port = await served.listening
      if (this.#isStopped) return await served.stop()
      this.#port = served
      hosts.push(...hostsOf(port))
      this.#baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    } catch (error) {
      if (isNews) onUnreachable(`${host}:${number}`, messageOf(error))
    }
  }

  async #listen(listen: (server: Server, then: () => void) => void): Promise<Server> {
    const app = this.#createApp({ via: 'socket', hosts: [], tokens: undefined })
    const server = createControlServer((incoming, outgoing) => {
      const isCommand = incoming.method === 'POST' && incoming.url === COMMANDS_PATH
      const isQueued = this.#turns.add(isCommand ? 'head' : 'look', () => {
        if (!outgoing.destroyed) app.listen(incoming, outgoing)
      })
      if (!isQueued) answerError(outgoing, 'too many requests wait already', { status: 503 })
    })
    server.maxConnections = SOCKET_CONNECTIONS_MAX
    server.on('drop', () =>
      this.#refusals.add('connection', `more than ${SOCKET_CONNECTIONS_MAX} connections`),
    )
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      listen(server, resolve)
    })
    // A broken control socket must not stop trading.
    server.on('error', (error) => this.#options.onBroken(messageOf(error)))
    return server
  }

  /** Without control clients a daemon starts sooner and is smaller. */
  #createApp(entrance: Entrance): { listen: RequestListener; fetch: LoadedApp['fetch'] } {
    const options: ControlAppOptions = {
      ...this.#options,
      entrance,
      refusals: this.#refusals,
      turns: this.#turns,
      address: () => this.newAddress(),
    }
    let loading: Promise<LoadedApp> | undefined
    const load = async (): Promise<LoadedApp> => {
      const { loadApp } = await import('./control-app.ts')
      return loadApp(options)
    }
    const loaded = async (): Promise<LoadedApp> => {
      try {
        return await (loading ??= load())
      } catch (error) {
        loading = undefined
        throw error
      }
    }
    return {
      listen: (incoming, outgoing) => {
        void loaded().then(
          (app) => app.listen(incoming, outgoing),
          (error: unknown) => {
            this.#options.onBroken(messageOf(error))
            outgoing.destroy()
          },
        )
      },
      fetch: async (request) => (await loaded()).fetch(request),
    }
  }
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
