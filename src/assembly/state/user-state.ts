import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { processVariables } from '../../config/secrets.ts'

/** What `StateDirectory=intentd` of the shipped unit makes. */
const SERVICE_STATE = '/var/lib/intentd'

/**
 * Where daemons and commands of one user find each other, whatever their environment says: a service may write only
 * what its unit gives it, and a shell knows nothing of the variables of that unit. What is held or written in one of
 * these is looked for in all of them. They outlive a boot, and nothing tidies them up: a lock whose file is removed is
 * no lock.
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
