import type { Server } from 'node:http'
import { Secret } from '../../lib/secret.ts'
import { inNextTurn, systemTimers, type Timers } from '../../lib/timers.ts'
import { ConnectionBounds, CONNECTIONS_MAX, connectionsMaxOf } from '../access/connection-bounds.ts'
import { HeadGate } from './head-gate.ts'
import { AgentRelay } from './agent-relay.ts'
import { createControlServer, hostsOf, listenAt } from './http-server.ts'
import type { FrontServer } from './listen-in-thread.ts'
import { PassedRequests } from './passed-requests.ts'
import type { PortNews, PortTask, RefusedNews, ToPort } from './port-messages.ts'
import { NewsBundle } from './news-bundle.ts'

export interface PortFrontOptions extends PortTask {
  readonly monotonic: () => number
  readonly timers?: Timers
  readonly post: (news: PortNews) => void
  readonly onBroken: (reason: string) => void
}

export class PortFront implements FrontServer<ToPort> {
  readonly #options: PortFrontOptions
  readonly #hosts: string[] = []
  readonly #passed: PassedRequests
  readonly #refused: NewsBundle<RefusedNews>
  readonly #relay: AgentRelay | undefined
  readonly #server: Server

  constructor(options: PortFrontOptions) {
    const { tokens, agents, post } = options
    this.#options = options
    this.#refused = new NewsBundle<RefusedNews>(post)
    const onRefused = (why: string): void => this.#refuse('request', why)
    this.#passed = new PassedRequests({
      monotonic: options.monotonic,
      timers: options.timers ?? systemTimers,
      onRefused,
      post: (news) => {
        this.#refused.flush()
        post(news)
      },
    })
    this.#relay =
      tokens.agent === undefined || agents === undefined
        ? undefined
        : new AgentRelay({ agents, onRefused })
    this.#server = this.#createServer()
  }

  async start(): Promise<number> {
    const { host, port, onBroken } = this.#options
    const listening = await listenAt(this.#server, { host, port }, onBroken)
    this.#hosts.push(...hostsOf(listening))
    return listening
  }

  hear(message: ToPort): void {
    this.#passed.hear(message)
  }

  async stop(): Promise<void> {
    this.#relay?.stop()
    // The answers of the relay are sent in this turn.
    await new Promise<void>(inNextTurn)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    this.#refused.flush()
  }

  #createServer(): Server {
    const { tokens, monotonic } = this.#options
    const bounds = new ConnectionBounds({
      monotonic,
      onClosed: (why) => this.#refuse('connection', why),
    })
    const relay = this.#relay
    const gate = new HeadGate({
      entrance: {
        via: 'port',
        hosts: this.#hosts,
        tokens: {
          full: new Secret(tokens.full),
          read: new Secret(tokens.read),
          ...(tokens.agent !== undefined && { agent: new Secret(tokens.agent) }),
        },
      },
      bounds,
      monotonic,
      passed: this.#passed,
      relay: relay && ((incoming, outgoing) => relay.pass(incoming, outgoing)),
      onRefused: (why) => this.#refuse('request', why),
    })
    const server = createControlServer((incoming, outgoing) => gate.hear(incoming, outgoing))
    server.maxConnections = connectionsMaxOf(CONNECTIONS_MAX)
    server.on('drop', () =>
      this.#refuse('connection', `more than ${server.maxConnections} connections`),
    )
    server.on('connection', (socket) => bounds.add(socket))
    return server
  }

  #refuse(what: RefusedNews['what'], why: string): void {
    this.#refused.add(`${what} ${why}`, { kind: 'refused', what, count: 1, why })
  }
}
