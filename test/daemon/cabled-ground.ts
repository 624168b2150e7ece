import { join } from 'node:path'
import { EXCHANGE_FILE, WAIT_MS_MAX, writeExchange } from '../crash/crash-config.ts'
import { credentialsFrom, FIRST_UID, readTruth } from '../crash/exchange-process.ts'
import { CabledPostgres } from '../support/cabled-postgres.ts'
import { findPort } from '../support/free-port.ts'
import { PrivateNetwork } from '../support/private-network.ts'
import { IntentdProcess } from './intentd-process.ts'
import { type Ground, MODE } from './machines.ts'
import { Project } from './project.ts'

/** Those that could trade the account. */
export const MACHINES = ['a', 'b', 'c'] as const

const EXCHANGE_STATE = 'exchange.sqlite'

/** Each process on a machine of its own, with one cable to a switch: the server, `intentd simulate`, and those that trade. */
export interface CabledGround extends Ground {
  readonly network: PrivateNetwork
  readonly server: CabledPostgres
}

/** @param seed of the prices */
export async function openCabledGround(seed: number): Promise<CabledGround> {
  const network = await PrivateNetwork.open(['server', 'exchange', ...MACHINES], 'exchange')
  const project = new Project()
  let server: CabledPostgres | undefined
  let exchange: IntentdProcess | undefined
  const close = async (): Promise<void> => {
    await exchange?.stop('SIGKILL')
    server?.close()
    network.close()
    project.remove()
  }
  try {
    // Daemons know each other by the address of their exchange, whatever network it is in.
    const at = { host: 'localhost', port: await findPort() }
    server = CabledPostgres.start(network.host('server'))
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
      { cwd, within: network.host('exchange').within(cwd), waitMsMax: WAIT_MS_MAX },
    )
    await exchange.untilEvent('simulator.listening')
    return {
      ...server.place('cabled'),
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
      close,
      network,
      server,
    }
  } catch (error) {
    await close()
    throw error
  }
}
