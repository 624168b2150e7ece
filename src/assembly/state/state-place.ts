import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { MarketOverride } from '../simulator/simulated-exchange.ts'
import { REPLICA_FILE } from '../../journal/journal-failures.ts'
import { worldOf } from '../simulator/simulator-world.ts'

/** In the state directory: where a running daemon is spoken to. */
export const CONTROL_SOCKET = 'control.sock'

/** Whether the exchange of this configuration lives inside the daemon. */
export function isEmbedded(config: DaemonConfig): config is DaemonConfig & { simulator: object } {
  return (
    config.environment === 'simulator' &&
    config.exchange.baseUrl === undefined &&
    config.simulator !== undefined
  )
}

/** The simulator's worlds each have a place of their own under the configured directory. */
export function stateDirectoryOf(config: DaemonConfig, market: MarketOverride): string {
  const { directory } = config.state
  if (!isEmbedded(config)) return directory
  return join(directory, worldOf(config, config.simulator, market))
}

/** In the state directory: the journal, where that is not on PostgreSQL. */
export const JOURNAL_FILE = 'journal.sqlite'

/** Where the journal of a state directory is, and whose. */
export function journalPlaceOf({ environment, account, journal }: DaemonConfig, directory: string) {
  return {
    file: join(directory, journal === undefined ? JOURNAL_FILE : REPLICA_FILE),
    identity: `${environment} ${account.productType} ${account.positionMode}`,
  }
}
