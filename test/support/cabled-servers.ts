import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { CabledPostgres } from './cabled-postgres.ts'
import { type NetworkHost, type PrivateNetwork } from './private-network.ts'

/** Those that a server can run on. */
export const SERVERS = ['server', 'other'] as const

/** Under this address machines find the one that is written; it moves with a failover. */
const SHARED = '10.77.0.100'
const SCHEMA = 'cabled'

/** A PostgreSQL server, and the one that takes its place. */
export class CabledServers {
  /** The address under which it is found, whoever has it. */
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
      ...{ password: undefined, schema: SCHEMA },
    }
  }

  get asked(): PostgresPlace {
    return this.#primary.asked(SCHEMA)
  }

  get primary(): CabledPostgres {
    return this.#primary
  }

  /** The machine that it runs on. */
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

  /** The one is gone, and the other has its place and its address. */
  failOver(machines: readonly NetworkHost[]): void {
    const standby = this.#standby
    if (standby === undefined) throw new Error('there is no standby')
    const next = this.otherHost
    this.#primary.close()
    this.#host.do(`ip address del ${SHARED}/24 dev eth0`)
    standby.promote()
    next.do(`ip address add ${SHARED}/24 dev eth0`)
    // As whoever takes an address over tells all others.
    for (const machine of machines) machine.do('ip neigh flush dev eth0')
    this.#primary = standby
    this.#host = next
    this.#standby = undefined
  }

  close(): void {
    this.#standby?.close()
    this.#primary.close()
  }
}
