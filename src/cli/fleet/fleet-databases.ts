import { type DaemonConfig, loadConfig } from '../../config/load-config.ts'
import type { FleetReader } from '../../journal/fleet/read-fleet.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { exitOf } from '../process/exit-codes.ts'
import { print } from '../process/operator.ts'
import { repeatOptions } from '../process/options.ts'
import { toConfigRequest, type ConfigOptions } from '../../config/config-request.ts'
import { databaseOf, loadFleetPlaces } from '../operator/fleet-places.ts'

export interface FleetDatabase<Reader> {
  readonly name: string | undefined
  readonly reader: Reader
}

/**
 * A journal in a file is listed with the command that shows it. @returns the worst exit code
 * @throws the error of the only database; Failure FLEET_IMPOSSIBLE
 */
export async function lookAtDatabases(
  options: ConfigOptions & { readonly url?: string | undefined },
  look: (database: FleetDatabase<FleetReader>) => Promise<number>,
): Promise<number> {
  const load = (own: ConfigOptions): DaemonConfig => loadConfig(toConfigRequest(own)).config
  const { places, files, code } = loadFleetPlaces(options, load)
  const [file] = files
  if (places.length === 0 && file !== undefined) throw noFleet(file.config.file)
  for (const { config, own } of files)
    print(`${config.name}: its journal is a file; \`intentd status${repeatOptions(own)}\` shows it`)
  const { FleetReader } = await import('../../journal/fleet/read-fleet.ts')
  const databases = places.map((place) => ({
    name: places.length > 1 ? databaseOf(place) : undefined,
    reader: new FleetReader(place),
  }))
  return Math.max(code, await lookSideBySide(databases, look))
}

export async function lookSideBySide<Reader extends Pick<FleetReader, 'close'>>(
  databases: readonly FleetDatabase<Reader>[],
  look: (database: FleetDatabase<Reader>) => Promise<number>,
): Promise<number> {
  const codes = databases.map(async (database) => {
    try {
      return await look(database)
    } catch (error) {
      if (database.name === undefined) throw error
      print(`${database.name}: ${messageOf(error)}`)
      return exitOf(error)
    } finally {
      await database.reader.close()
    }
  })
  return Math.max(0, ...(await Promise.all(codes)))
}

function noFleet(file: string): Failure {
  return new Failure({
    code: 'FLEET_IMPOSSIBLE',
    sentence: 'the journal of this configuration is a file, so no other machine can be shown',
    facts: { file },
    hint: 'use `intentd status`; for several machines set journal.url',
  })
}
