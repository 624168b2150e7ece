import type { DaemonConfig } from '../../config/load-config.ts'
import type { FleetView } from '../../control/detail-views.ts'
import type { Secret } from '../../lib/secret.ts'
import { serverPlaceOf } from '../../assembly/state/open-journal.ts'

/** Reads what the journal's server knows of all who use it. */
export type FleetSource = () => Promise<FleetView>

/**
 * Over a connection of its own for each look, so that it holds none while nobody looks; who asks meanwhile gets the same
 * look. Undefined where the journal is a file.
 */
export function createFleetSource(
  config: Pick<DaemonConfig, 'journal' | 'name'>,
  password: Secret | undefined,
): FleetSource | undefined {
  if (config.journal === undefined) return undefined
  const place = serverPlaceOf(config, password)
  let looking: Promise<FleetView> | undefined
  const look = async (): Promise<FleetView> => {
    const { FleetReader } = await import('../../journal/fleet/read-fleet.ts')
    const reader = new FleetReader(place)
    try {
      return structuredClone(await reader.read()) as FleetView
    } finally {
      await reader.close()
    }
  }
  return () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}
