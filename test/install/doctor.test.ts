import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { assertSupported } from '../../src/cli/process/platform.ts'
import { examineRuntime } from '../../src/cli/doctor/examine-machine.ts'
import { examineSupervisors } from '../../src/cli/doctor/examine-supervisor.ts'
import { type Finding } from '../../src/cli/doctor/finding.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { findExchange, startExchange, writeRemote } from '../daemon/remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

interface Looked {
  readonly code: number | null
  readonly findings: readonly Finding[]
  readonly text: string
}

async function look(project: Project, args: readonly string[], env = {}): Promise<Looked> {
  const run = project.start(['doctor', '--json', ...args], env)
  const { code } = await run.ended
  const text = run.stdout.join('\n')
  const { findings } = JSON.parse(text) as { readonly findings: readonly Finding[] }
  return { code, findings, text }
}

const stateOf = (findings: readonly Finding[], what: string) =>
  findings.find((one) => one.what === what)?.state

test.concurrent('on paper nothing fails, and nothing has to be done but a supervisor', async () => {
  const { code, findings } = await look(projects.open(), [])

  const rest = findings.filter(({ state }) => state !== 'ok').map(({ what }) => what)
  expect({ code, rest }).toEqual({ code: 0, rest: ['supervisor'] })
  expect(findings.filter(({ state, advice }) => (state === 'ok') !== (advice === undefined))).toEqual([])
})

test.concurrent('an exchange that answers: its clock, the keys, and what nobody can check from here', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  writeRemote(project)
  const args = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]

  const good = await look(project, args, place.env)
  const wrong = await look(project, args, { ...place.env, INTENTD_API_SECRET: 'wrongsecret' })
  await exchange.stop()
  const away = await look(project, args, place.env)

  const states = ['exchange', 'clock', 'keys', 'key accepted', 'position mode', 'precision', 'key rights']
  expect(states.map((what) => stateOf(good.findings, what))).toEqual([
    ...['ok', 'ok', 'ok', 'ok'],
    ...['notChecked', 'notChecked', 'notChecked'],
  ])
  expect(good.code).toBe(0)
  expect({ code: wrong.code, state: stateOf(wrong.findings, 'key accepted') }).toEqual({
    code: 1,
    state: 'fail',
  })
  expect({ code: away.code, state: stateOf(away.findings, 'exchange') }).toEqual({ code: 1, state: 'fail' })
  for (const secret of [...Object.values(place.env), 'wrongsecret'])
    expect(`${good.text}${wrong.text}${away.text}`).not.toContain(secret)
})

test.concurrent('what others may read or change is said, with the command that ends it', async () => {
  const project = projects.open()
  project.write('.env', 'INTENTD_API_KEY=abc\n')
  chmodSync(join(project.directory, '.env'), 0o644)
  chmodSync(join(project.directory, 'strategies/trend.ts'), 0o666)
  mkdirSync(join(project.directory, '.intentd/paper'), { recursive: true })
  chmodSync(join(project.directory, '.intentd/paper'), 0o755)

  const { code, findings } = await look(project, [])

  expect(code).toBe(1)
  expect(findings.find(({ what }) => what === '.env')).toMatchObject({
    state: 'fail',
    advice: `chmod 600 ${join(project.directory, '.env')}`,
  })
  expect(stateOf(findings, 'state directory')).toBe('fail')
  expect(findings.filter(({ what }) => what === 'configuration')).toMatchObject([
    { state: 'ok' },
    { state: 'warn' },
  ])
})

test.concurrent('a configuration that is wrong fails, and so does a disk without room', async () => {
  const project = projects.open()

  const wrong = await look(project, ['--set', 'onStop=stay'])
  const full = await look(project, ['--set', 'state.freeBytesMin=1000000000000'])

  expect({ code: wrong.code, state: stateOf(wrong.findings, 'configuration') }).toEqual({
    code: 1,
    state: 'fail',
  })
  expect({ code: full.code, state: stateOf(full.findings, 'disk') }).toEqual({ code: 1, state: 'fail' })
})

test.concurrent('a daemon that runs and a kill that stands are named', async () => {
  const project = projects.open()
  const run = project.run()
  await run.untilEvent('daemon.running')
  const { findings } = await look(project, [])
  await run.stop()
  project.write('.intentd/paper/KILL', '')
  const killed = await look(project, [])

  expect(findings.find(({ what }) => what === 'state lock')?.found).toContain(`pid ${run.pid}`)
  expect(stateOf(killed.findings, 'kill switch')).toBe('warn')
})

const GOOD_UNIT =
  'Type=notify\nNotifyAccess=all\nTimeoutStopSec=2min\nRestart=on-failure\nRestartPreventExitStatus=66 78\n'

test.each([
  ['pm2, as shipped', {}, 'ok', ''],
  [
    'pm2 that kills too early',
    { kill_timeout: 5000 },
    'fail',
    'kill_timeout is 5000 ms, and a stop may take 69000',
  ],
  [
    'pm2 that starts a wrong configuration again',
    { stop_exit_codes: [64] },
    'fail',
    'stop_exit_codes lacks 78',
  ],
  ['pm2 that takes a kill for an end', { stop_exit_codes: [0, 78] }, 'fail', 'stop_exit_codes holds 0'],
  ['pm2 that keeps keys', { filter_env: [] }, 'fail', 'filter_env lacks INTENTD_'],
])('%s', (_title, change, state, found) => {
  const project = projects.open()
  const app = {
    name: 'intentd',
    kill_timeout: 120_000,
    stop_exit_codes: [64, 78],
    filter_env: ['INTENTD_'],
    ...change,
  }
  project.write('ecosystem.config.cjs', `module.exports = ${JSON.stringify({ apps: [app] })}`)

  const [first] = examineSupervisors({ cwd: project.directory, stopMs: 69_000, systemUnits: '/nowhere' })

  expect(first?.state).toBe(state)
  expect(first?.found).toContain(found)
})

test.each([
  ['a unit that fits', '', 'ok', ''],
  [
    'a unit that kills too early',
    'TimeoutStopSec=30\n',
    'fail',
    'TimeoutStopSec is 30 s, and a stop may take 69',
  ],
  ['a unit that waits for ever', 'TimeoutStopSec=infinity\n', 'ok', ''],
  ['a unit in minutes and seconds', 'TimeoutStopSec=1min 8s\n', 'fail', 'TimeoutStopSec is 68 s'],
  [
    'a unit that starts it again',
    'RestartPreventExitStatus=1 2\n',
    'fail',
    'RestartPreventExitStatus lacks 78',
  ],
  ['a unit that Node does not survive', 'MemoryDenyWriteExecute=yes\n', 'fail', 'MemoryDenyWriteExecute'],
])('%s', (_title, more, state, found) => {
  const project = projects.open()
  project.write('intentd.service', `[Service]\n${GOOD_UNIT}${more}`)

  const [first] = examineSupervisors({ cwd: project.directory, stopMs: 69_000, systemUnits: '/nowhere' })

  expect(first?.state).toBe(state)
  expect(first?.found).toContain(found)
})

test('another Node and another system are warned of, and on Windows nothing trades with money', () => {
  const live = {
    environment: 'live',
    exchange: { requestTimeoutMs: 1, answerBytesMax: 1, locale: 'en-US', limitsUse: 1 },
  } as const

  expect(examineRuntime('v24.1.0', 'linux').map(({ state }) => state)).toEqual(['ok', 'ok'])
  expect(examineRuntime('v26.0.0', 'win32').map(({ state }) => state)).toEqual(['warn', 'warn'])
  expect(() => assertSupported(live, 'win32')).toThrow('PLATFORM_UNSUPPORTED')
  expect(() => assertSupported({ ...live, environment: 'simulator' }, 'win32')).not.toThrow()
  expect(() => assertSupported(live, 'linux')).not.toThrow()
})
