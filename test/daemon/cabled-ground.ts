import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXCHANGE_FILE, WAIT_MS_MAX, writeExchange } from '../crash/crash-config.ts'
import { credentialsFrom, FIRST_UID, readTruth } from '../crash/exchange-process.ts'
import { CabledServers, SERVERS } from '../support/cabled-servers.ts'
import { findPort } from '../support/free-port.ts'
import { PrivateNetwork } from '../support/private-network.ts'
import { RedisServer } from '../support/redis-server.ts'
import { IntentdProcess } from './intentd-process.ts'
import { type Ground, MODE } from './machines.ts'
import { Project } from './project.ts'
import { readSigned, type SignedRequest } from './signed-requests.ts'

/** Those that could trade the account. */
export const MACHINES = ['a', 'b', 'c'] as const

const REDIS = 'redis'
/** One that is passed over may still call when the next begins. */
const MEMBERS = 2
const EXCHANGE_STATE = 'exchange.sqlite'
const COUNT_ARRIVALS = new URL('./count-arrivals.ts', import.meta.url).href
const ARRIVALS_FILE = 'arrivals.txt'

/** Each process on a machine of its own, with one cable to a switch: the server, `intentd simulate`, and those that trade. */
export interface CabledGround extends Ground {
  readonly network: PrivateNetwork
  readonly servers: CabledServers
  readonly redis: RedisServer | undefined
  /** What the machines have signed, as the exchange saw it; when it has ended. */
  readonly signed: () => readonly SignedRequest[]
}

/**
 * @param seed of the prices
 * @param isShared whether the limits of the address are shared through Redis
 */
export async function openCabledGround(seed: number, isShared = false): Promise<CabledGround> {
  const network = await PrivateNetwork.open(
    [...SERVERS, 'exchange', REDIS, ...MACHINES],
    'exchange',
  )
  const project = new Project()
  let servers: CabledServers | undefined
  let redis: RedisServer | undefined
  let exchange: IntentdProcess | undefined
  const close = async (): Promise<void> => {
    await exchange?.stop('SIGKILL')
    servers?.close()
    await redis?.kill()
    network.close()
    project.remove()
  }
  try {
    // Daemons know each other by the address of their exchange, whatever network it is in.
    const at = { host: 'localhost', port: await findPort() }
    servers = CabledServers.start(network)
    if (isShared)
      redis = await RedisServer.start(
        {},
        { within: network.host(REDIS).within('/'), bind: '0.0.0.0' },
      )
    writeExchange(project, { mode: MODE, reading: 'replay', seed, scenario: 'normal', at })
    const cwd = project.directory
    exchange = new IntentdProcess(
      [
        'simulate',
        '--config',
        EXCHANGE_FILE,
        '--state',
        EXCHANGE_STATE,
        '--no-demo-past',
        '--print-accounts',
      ],
      {
        cwd,
        within: network.host('exchange').within(cwd),
        waitMsMax: WAIT_MS_MAX,
        preload: COUNT_ARRIVALS,
        env: { ARRIVALS_FILE: join(cwd, ARRIVALS_FILE) },
      },
    )
    await exchange.untilEvent('simulator.listening')
    const started = servers
    return {
      place: servers.place,
      // Another server may have taken its place.
      get asked() {
        return started.asked
      },
      ...(redis && {
        config: {
          exchange: {
            shared: {
              redis: `redis://${network.host(REDIS).address}:${redis.port}`,
              withoutTls: true,
              members: MEMBERS,
            },
          },
        },
      }),
      url: `http://${at.host}:${at.port}`,
      credentials: credentialsFrom(exchange.stdout[0] ?? ''),
      uid: FIRST_UID,
      // Each machine has a user of its own, who knows nothing of the daemons of the others.
      within: (machine, directory) => [
        ...network.host(machine).within(directory),
        'env',
        `HOME=${directory}`,
      ],
      async readTruth() {
        await exchange?.stop()
        return readTruth(join(cwd, EXCHANGE_STATE))
      },
      signed() {
        const lines = readFileSync(join(cwd, ARRIVALS_FILE), 'utf8').split('\n').slice(0, -1)
        return readSigned(
          lines,
          new Map(MACHINES.map((machine) => [network.host(machine).address, machine])),
        )
      },
      close,
      network,
      servers,
      redis,
    }
  } catch (error) {
    await close()
    throw error
  }
}
