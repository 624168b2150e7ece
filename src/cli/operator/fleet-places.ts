import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { loadJournalPassword, loadSweepPassword } from '../../config/secrets.ts'
import { serverPlaceOf } from '../../assembly/state/state-place.ts'
import type { PostgresPlace } from '../../journal/postgres/connection.ts'
import { messageOf } from '../../lib/failure.ts'
import { Secret } from '../../lib/secret.ts'
import { loadOperated } from './operated-config.ts'
import { exitOf } from '../process/exit-codes.ts'
import { print } from '../process/operator.ts'

export interface FleetConfig {
  readonly config: DaemonConfig
  readonly own: ConfigOptions
}

export interface FleetPlaces {
  readonly places: readonly PostgresPlace[]
  readonly served: readonly FleetConfig[]
  readonly files: readonly FleetConfig[]
  readonly code: number
}

export function loadFleetPlaces(
  options: ConfigOptions & { readonly url?: string | undefined },
  load: (own: ConfigOptions) => DaemonConfig = loadOperated,
): FleetPlaces {
  if (options.url !== undefined)
    return { places: [placeOf(options.url)], served: [], files: [], code: 0 }
  const main = load(options)
  const places = new Map<string, PostgresPlace>()
  const files: FleetConfig[] = []
  const served: FleetConfig[] = []
  let code = 0
  for (const file of [main.file, ...(main.accounts ?? [])]) {
    try {
      const own =
        file === main.file ? options : { ...options, config: file, set: [], state: undefined }
      const config = load(own)
      if (config.journal === undefined) files.push({ config, own })
      else {
        served.push({ config, own })
        places.set(
          config.journal.url,
          serverPlaceOf(config, loadJournalPassword(config, toConfigRequest(own))),
        )
      }
    } catch (error) {
      print(messageOf(error))
      code = Math.max(code, exitOf(error))
    }
  }
  return { places: [...places.values()], served, files, code }
}

export function databaseOf({ url }: Pick<PostgresPlace, 'url'>): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Takes an address with a password, for emergencies. The schema does not matter. */
export function placeOf(url: string): PostgresPlace {
  const bare = new URL(url)
  const given = bare.searchParams.get('password') ?? decodeURIComponent(bare.password)
  if (given === '') {
    const request = { cwd: process.cwd() }
    const ofJournal = loadJournalPassword(
      { journal: { url, leaseMs: 0, withoutTls: true } },
      request,
    )
    return { url, password: ofJournal ?? loadSweepPassword(request), schema: '' }
  }
  bare.password = ''
  bare.searchParams.delete('password')
  return { url: bare.href, password: new Secret(given), schema: '' }
}
