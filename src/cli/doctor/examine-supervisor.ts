import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { messageOf } from '../../lib/failure.ts'
import { type CheckFinding, finding, ok } from '../process/finding.ts'

const ECOSYSTEM_FILE = 'ecosystem.config.cjs'
const UNIT_FILE = 'intentd.service'
const SYSTEM_UNITS = '/etc/systemd/system'

const EXIT_CONFIGURATION = 78

interface Pm2App {
  readonly name?: string
  readonly exec_mode?: string
  readonly kill_timeout?: number
  readonly stop_exit_codes?: readonly number[]
  readonly filter_env?: readonly string[]
}

export interface SupervisorRequest {
  readonly cwd: string
  readonly stopMs: number
  readonly systemUnits?: string
}

/** Reads the files; a running pm2 may still use older ones. */
export function examineSupervisors(request: SupervisorRequest): readonly CheckFinding[] {
  const { cwd, stopMs, systemUnits = SYSTEM_UNITS } = request
  const ecosystem = join(cwd, ECOSYSTEM_FILE)
  const units = [join(cwd, UNIT_FILE), join(systemUnits, UNIT_FILE)].filter((path) =>
    existsSync(path),
  )
  const findings = [
    ...(existsSync(ecosystem) ? [examinePm2(ecosystem, stopMs)] : []),
    ...units.map((path) => examineUnit(path, stopMs)),
  ]
  if (findings.length > 0) return findings
  const advice =
    'pm2 or systemd starts it again after a crash: `intentd init` writes files for both'
  return [
    finding('warn', 'supervisor', `neither ${ECOSYSTEM_FILE} nor ${UNIT_FILE} is here`, advice),
  ]
}

function examinePm2(path: string, stopMs: number): CheckFinding {
  try {
    const { apps = [] } = createRequire(import.meta.url)(path) as {
      readonly apps?: readonly Pm2App[]
    }
    const app = apps.find(({ name }) => name === 'intentd') ?? apps[0] ?? {}
    return judge('pm2', path, faultsOfApp(app, stopMs))
  } catch (error) {
    return finding('fail', 'pm2', `${path}: ${messageOf(error)}`, 'mend the file, or remove it')
  }
}

function faultsOfApp(app: Pm2App, stopMs: number): readonly string[] {
  const { kill_timeout = 1600, stop_exit_codes = [], filter_env = [], exec_mode = 'fork' } = app
  return [
    ...(kill_timeout < stopMs
      ? [`kill_timeout is ${kill_timeout} ms, and a stop may take ${stopMs}`]
      : []),
    ...(stop_exit_codes.includes(EXIT_CONFIGURATION) ? [] : ['stop_exit_codes lacks 78']),
    ...(stop_exit_codes.includes(0)
      ? ['stop_exit_codes holds 0, which is also what a kill looks like']
      : []),
    ...(filter_env.includes('INTENTD_')
      ? []
      : ['filter_env lacks INTENTD_: keys would stand in the dump of pm2']),
    ...(exec_mode.startsWith('fork') ? [] : ['exec_mode is not fork']),
  ]
}

function examineUnit(path: string, stopMs: number): CheckFinding {
  const settings = readUnit(path)
  if (settings === undefined)
    return finding('notChecked', 'systemd', `${path} cannot be read`, 'run it as root')
  const setting = (name: string): string => settings.get(name) ?? ''
  const stopSec = toSeconds(settings.get('TimeoutStopSec') ?? '90')
  return judge('systemd', path, [
    ...(stopSec * 1000 < stopMs
      ? [`TimeoutStopSec is ${stopSec} s, and a stop may take ${stopMs / 1000}`]
      : []),
    ...(setting('RestartPreventExitStatus').split(' ').includes('78')
      ? []
      : ['RestartPreventExitStatus lacks 78']),
    ...(['', 'no'].includes(setting('Restart')) ? ['Restart is not set'] : []),
    ...(setting('Type') === 'notify' && setting('NotifyAccess') !== 'all'
      ? ['NotifyAccess is not all']
      : []),
    ...(setting('WatchdogSec') !== '' && setting('Type') !== 'notify'
      ? ['WatchdogSec wants Type=notify']
      : []),
    ...(['yes', 'true', '1', 'on'].includes(setting('MemoryDenyWriteExecute'))
      ? ['MemoryDenyWriteExecute ends Node']
      : []),
  ])
}

function readUnit(path: string): ReadonlyMap<string, string> | undefined {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return new Map(lines.flatMap((line) => [/^(\w+)=(.*)$/.exec(line)?.slice(1)].flatMap(toEntry)))
  } catch {
    return undefined
  }
}

function toEntry(match: readonly string[] | undefined): [string, string][] {
  return match === undefined ? [] : [[match[0] ?? '', (match[1] ?? '').trim()]]
}

/** Infinity without a limit; 0, which is below every limit, for an unreadable text. */
function toSeconds(text: string): number {
  if (text === 'infinity' || text === '0') return Number.POSITIVE_INFINITY
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(h|min|m|ms|s)?(?=\s|\d|$)/g)]
  const unit: Readonly<Record<string, number>> = { h: 3600, min: 60, m: 60, s: 1, ms: 0.001 }
  return parts.reduce((sum, [, count, name = 's']) => sum + Number(count) * (unit[name] ?? 1), 0)
}

function judge(what: string, path: string, faults: readonly string[]): CheckFinding {
  if (faults.length === 0) return ok(what, `${path} fits a stop and an exit with 78`)
  return finding(
    'fail',
    what,
    `${path}: ${faults.join('; ')}`,
    'put it right as docs/start-and-stop.md says, and load it again',
  )
}
