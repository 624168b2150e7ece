import type { DaemonConfig } from '../../config/load-config.ts'
import { loadJournalPassword, loadSweepPassword } from '../../config/secrets.ts'
import { serverPlaceOf } from '../../assembly/state/open-journal.ts'
import type { PostgresPlace } from '../../journal/postgres/connection.ts'
import { messageOf } from '../../lib/failure.ts'
import { Secret } from '../../lib/secret.ts'
import { loadOperated } from './operated-config.ts'
import { exitOf } from '../process/exit-codes.ts'
import { print } from '../process/operator.ts'
import { toConfigRequest, type ConfigOptions } from '../../config/config-request.ts'

export interface FleetConfig {
  readonly config: DaemonConfig
  readonly own: ConfigOptions
}

/** Where the accounts of a configuration have their journals. */
export interface FleetPlaces {
  /** Databases, each once. */
  readonly places: readonly PostgresPlace[]
  /** Accounts whose journal lies there, each with the options that address it alone. */
  readonly served: readonly FleetConfig[]
  /** Accounts whose journal is a file. */
  readonly files: readonly FleetConfig[]
  /** The exit code of what could not be read: it keeps no other account from being found. */
  readonly code: number
}

/**
 * @param options `url` names a database, and then no configuration is read.
 * @param load Reads the configuration of an account.
 */
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

/** A database among others, for people. */
export function databaseOf({ url }: Pick<PostgresPlace, 'url'>): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/**
 * Of a database: which account's does not count. A password in the address is obeyed, since this is for moments when
 * nothing else is at hand, and never shown. The database may be that of a queue of sweeps, on a machine that knows no
 * other password.
 */
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
