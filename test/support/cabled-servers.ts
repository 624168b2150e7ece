import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { CabledPostgres } from './cabled-postgres.ts'
import { type NetworkHost, type PrivateNetwork } from './private-network.ts'

export const SERVERS = ['server', 'other'] as const

/** Address of the current writer, which moves with a failover. */
const SHARED = '10.77.0.100'
const SCHEMA = 'cabled'

export class CabledServers {
  readonly way = { address: SHARED }
  readonly #network: PrivateNetwork
  #primary: CabledPostgres
  #host: NetworkHost
  #standby: CabledPostgres | undefined

  private constructor(network: PrivateNetwork) {
    this.#network = network
    this.#host = network.host(SERVERS[0])
    this.#host.do(`ip address add ${SHARED}/24 dev eth0`)
    this.#primary = CabledPostgres.start(this.#host)
  }

  static start(network: PrivateNetwork): CabledServers {
    return new CabledServers(network)
  }

  get place(): PostgresPlace {
    return {
      url: `postgresql://postgres@${SHARED}:5432/postgres`,
      password: undefined,
      schema: SCHEMA,
    }
  }

  get asked(): PostgresPlace {
    return this.#primary.asked(SCHEMA)
  }

  get primary(): CabledPostgres {
    return this.#primary
  }

  get host(): NetworkHost {
    return this.#host
  }

  /** From now on each commit is on two machines. */
  addStandby(): void {
    this.#standby = CabledPostgres.follow(this.otherHost, SHARED)
    this.#primary.waitForStandby()
  }

  get otherHost(): NetworkHost {
    return this.#network.host(SERVERS.find((name) => name !== this.#host.name) ?? SERVERS[0])
  }

  /** The writer is gone, and the standby takes its place and address. */
  failOver(machines: readonly NetworkHost[]): void {
    const standby = this.#standby
    if (standby === undefined) throw new Error('there is no standby')
    const next = this.otherHost
    this.#primary.close()
    standby.promote()
    this.#moveAddress(this.#host, next, machines)
    this.#primary = standby
    this.#host = next
    this.#standby = undefined
  }

  /** Keeps a server that lacks everything committed from now on. */
  leaveBehind(): void {
    this.#standby = CabledPostgres.follow(this.otherHost, SHARED)
    this.otherHost.pull()
  }

  /** The writer is down, and the server that lags behind takes its address. */
  promoteBehind(machines: readonly NetworkHost[]): void {
    this.#primary.kill()
    this.#standby?.promote()
    this.otherHost.plug()
    this.#moveAddress(this.#host, this.otherHost, machines)
  }

  takeBack(machines: readonly NetworkHost[]): void {
    this.#standby?.close()
    this.#standby = undefined
    this.#primary.start()
    this.#moveAddress(this.otherHost, this.#host, machines)
  }

  /** Announces the new place of an address to all. */
  #moveAddress(from: NetworkHost, to: NetworkHost, machines: readonly NetworkHost[]): void {
    from.do(`ip address del ${SHARED}/24 dev eth0`)
    to.do(`ip address add ${SHARED}/24 dev eth0`)
    for (const machine of machines) machine.do('ip neigh flush dev eth0')
  }

  close(): void {
    this.#standby?.close()
    this.#primary.close()
  }
}
