import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { processVariables } from '../../config/secrets.ts'

/** Created by `StateDirectory=intentd` of the shipped unit. */
const SERVICE_STATE = '/var/lib/intentd'

/**
 * Places in which daemons and commands of one user find each other. A service may write only where
 * its unit allows, which a shell does not know, so all places are searched. They survive a reboot
 * and are never cleaned, because a lock whose file is removed is no lock.
 */
export function userStates(): readonly string[] {
  const { HOME, XDG_STATE_HOME } = processVariables()
  const home = HOME === undefined || HOME === '' ? homedir() : HOME
  const service = existsSync(SERVICE_STATE) ? [SERVICE_STATE] : []
  const named = XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME) ? [XDG_STATE_HOME] : []
  return [...new Set([join(home, '.local', 'state'), ...service, ...named])].map((place) =>
    join(place, 'intentd'),
  )
}
