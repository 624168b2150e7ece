import { showUtc } from '../../lib/text/show-utc.ts'
import { hostname } from 'node:os'
import { resolve, sep } from 'node:path'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { loadJournalPassword } from '../../config/secrets.ts'
import { serverPlaceOf } from '../../assembly/state/state-place.ts'
import type { FleetAccount } from '../../journal/fleet/fleet-accounts.ts'
import { messageOf } from '../../lib/failure.ts'
import { print } from '../process/operator.ts'

/**
 * A kill may stand on the journal's server (`kill --all`), so a release asks there if no daemon
 * here knows of one.
 */

export type KilledAccount = FleetAccount & { readonly kill: NonNullable<FleetAccount['kill']> }

export const HOLDER = /^(?<name>.+) on (?<host>\S+), pid (?<pid>\d+), (?<directory>.+)$/

/** @returns undefined without a server or a kill there */
export async function findServerKill(
  config: DaemonConfig,
  options: ConfigOptions,
): Promise<KilledAccount | undefined> {
  if (config.journal === undefined) return undefined
  try {
    const request = toConfigRequest({ ...options, config: config.file })
    const place = serverPlaceOf(config, loadJournalPassword(config, request))
    const { FleetReader } = await import('../../journal/fleet/fleet-reader.ts')
    const reader = new FleetReader(place)
    try {
      const account = await reader.readAccount(place.schema)
      const kill = account?.kill
      return account && kill && kill.state !== 'released' ? { ...account, kill } : undefined
    } finally {
      await reader.close()
    }
  } catch (error) {
    print(
      `the server of the journal does not say whether a kill was ordered there (\`kill --all\`): ${messageOf(error)}`,
    )
    return undefined
  }
}

export function describeServerKill({ kill }: Pick<KilledAccount, 'kill'>): string {
  const { state, by, orderedAt, reason, answeredBy } = kill
  const ordered = `a kill was ordered on the server of the journal by ${by} at ${showUtc(orderedAt)} (${reason})`
  if (state === 'asked') return `${ordered}, and no daemon has obeyed it yet`
  if (state === 'seen')
    return `${ordered}; ${answeredBy} obeys it, and has not proved yet that nothing rests`
  return `${ordered}; ${answeredBy} has proved that nothing rests`
}

/** @returns undefined if the kill is proved, and no other machine writes */
export function adviseServerRelease(account: KilledAccount, directory: string): string | undefined {
  const { state, holder, standbys, kill } = account
  const next = standbys.find(({ isFollowing }) => isFollowing)?.holder
  const elsewhere = state === 'writes' && !isOf(holder, directory) ? holder : next
  if (elsewhere !== undefined) return `release it there: ${releaseAt(elsewhere)}`
  if (kill.state === 'clean') return undefined
  return 'whoever trades the account next obeys it before anything is sent: start that one, look at the account, and release it then'
}

function releaseAt(holder: string): string {
  const { host, directory } = HOLDER.exec(holder)?.groups ?? {}
  if (host === undefined) return `\`intentd release --reason ...\` where ${holder} runs`
  return `on ${host}, \`intentd release --state ${directory} --reason ...\``
}

/** A daemon that died here keeps its lease for seconds. */
function isOf(holder: string, directory: string): boolean {
  const { host, directory: own = '' } = HOLDER.exec(holder)?.groups ?? {}
  const here = resolve(directory)
  return host === hostname() && (own === here || own.startsWith(`${here}${sep}`))
}
