import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'

/** The exchange's address, or `simulator`. */
export function sourceOf({ exchange: { baseUrl } }: Pick<DaemonConfig, 'exchange'>): string {
  return baseUrl === undefined ? 'simulator' : new URL(baseUrl).host
}

/** Where a daemon keeps them. */
export function keptUniverseOf(stateDirectory: string): string {
  return join(stateDirectory, 'universe')
}
