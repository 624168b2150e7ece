import type { DaemonConfig } from '../../config/load-config.ts'
import type { FleetView } from '../../control/detail-views.ts'
import type { Secret } from '../../lib/secret.ts'
import { serverPlaceOf } from '../../assembly/state/state-place.ts'

export type FleetSource = () => Promise<FleetView>

/** Concurrent callers share a connection. Undefined if the journal is a file. */
export function createFleetSource(
  config: Pick<DaemonConfig, 'journal' | 'name'>,
  password: Secret | undefined,
): FleetSource | undefined {
  if (config.journal === undefined) return undefined
  const place = serverPlaceOf(config, password)
  let looking: Promise<FleetView> | undefined
  const look = async (): Promise<FleetView> => {
    const { FleetReader } = await import('../../journal/fleet/fleet-reader.ts')
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
