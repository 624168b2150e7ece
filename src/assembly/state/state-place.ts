import type { Secret } from '../../lib/secret.ts'
import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { MarketOverride } from '../simulator/simulated-exchange.ts'
import { REPLICA_FILE } from '../../journal/journal-failures.ts'
import { worldOf } from '../simulator/simulator-world.ts'

export const CONTROL_SOCKET = 'control.sock'

/** All accounts of a daemon share the pairing of its main file. */
export function pairingFileOf({ state }: Pick<DaemonConfig, 'state'>): string {
  return join(state.directory, 'pairing.json')
}

/** The token of assistants at the port. The port's other tokens may lie elsewhere. */
export function agentTokenFileOf({ state }: Pick<DaemonConfig, 'state'>): string {
  return join(state.directory, 'control.agent.token')
}

/** `intentd mcp --http` listens there. It does not know which account runs. */
export function agentSocketOf({ state }: Pick<DaemonConfig, 'state'>): string {
  return join(state.directory, 'mcp.sock')
}

export function isEmbedded(config: DaemonConfig): config is DaemonConfig & { simulator: object } {
  return (
    config.environment === 'simulator' &&
    config.exchange.baseUrl === undefined &&
    config.simulator !== undefined
  )
}

/** Simulated accounts have directories below the configured one. */
export function stateDirectoryOf(config: DaemonConfig, market: MarketOverride): string {
  const { directory } = config.state
  if (!isEmbedded(config)) return directory
  return join(directory, worldOf(config, config.simulator, market))
}

export const JOURNAL_FILE = 'journal.sqlite'

export function journalPlaceOf({ environment, account, journal }: DaemonConfig, directory: string) {
  return {
    file: join(directory, journal === undefined ? JOURNAL_FILE : REPLICA_FILE),
    identity: `${environment} ${account.productType} ${account.positionMode}`,
  }
}

export function serverPlaceOf(
  { journal, name }: Pick<DaemonConfig, 'journal' | 'name'>,
  password: Secret | undefined,
) {
  if (journal === undefined) throw new Error('unreachable: this journal is a file')
  return {
    url: journal.url,
    password,
    schema: journal.schema ?? `intentd_${name.replaceAll('-', '_')}`,
  }
}

/** The exchange's address, or `simulator`. */
export function sourceOf({ exchange: { baseUrl } }: Pick<DaemonConfig, 'exchange'>): string {
  return baseUrl === undefined ? 'simulator' : new URL(baseUrl).host
}

export function keptUniverseOf(stateDirectory: string): string {
  return join(stateDirectory, 'universe')
}
