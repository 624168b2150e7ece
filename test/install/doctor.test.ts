import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { credentialsOf, SIMULATED_UID } from '../../src/assembly/simulator/simulated-exchange.ts'
import { holdAccount } from '../../src/assembly/account/account-lock.ts'
import { ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'
import { MAIN, SIMULATOR_SECTION, Workspace } from '../config/workspace.ts'
import { findPort } from '../support/free-port.ts'
import { CALLING } from '../exchange/client-fixture.ts'
import { examineExchange } from '../../src/cli/doctor/examine-exchange.ts'
import { assertSupported } from '../../src/cli/process/platform.ts'
import { examineLocks, examineRuntime } from '../../src/cli/doctor/examine-machine.ts'
import { examineSupervisors } from '../../src/cli/doctor/examine-supervisor.ts'
import { type CheckFinding } from '../../src/cli/process/finding.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { writeRemote } from '../daemon/remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

interface Looked {
  readonly code: number | null
  readonly findings: readonly CheckFinding[]
  readonly text: string
}

async function look(project: Project, args: readonly string[], env = {}): Promise<Looked> {
  const run = project.start(['doctor', '--json', ...args], env)
  const { code } = await run.ended
  const text = run.stdout.join('\n')
  const { findings } = JSON.parse(text) as { readonly findings: readonly CheckFinding[] }
  return { code, findings, text }
}

const stateOf = (findings: readonly CheckFinding[], what: string) =>
  findings.find((one) => one.what === what)?.state

test.concurrent('on paper nothing fails, and nothing has to be done but a supervisor', async () => {
  const { code, findings } = await look(projects.open(), [])

  const rest = findings.filter(({ state }) => state !== 'ok').map(({ what }) => what)
  expect({ code, rest }).toEqual({ code: 0, rest: ['supervisor'] })
  expect(
    findings.filter(({ state, advice }) => (state === 'ok') !== (advice === undefined)),
  ).toEqual([])
})

test.concurrent('a target of alerts whose address is nowhere is what a start refuses', async () => {
  const project = projects.open()
  const target = '{ name: ops, kind: slack, variable: INTENTD_ALERT_OPS }'
  project.write(
    'config/paper.yaml',
    `${project.read('config/paper.yaml')}\nalerts: { targets: [${target}] }\n`,
  )

  const [lacking, given] = await Promise.all([
    look(project, []),
    look(project, [], { INTENTD_ALERT_OPS: 'https://hooks.example/ops' }),
  ])

  expect(lacking.findings).toContainEqual(
    expect.objectContaining({
      state: 'fail',
      what: 'alerts',
      found: expect.stringContaining('INTENTD_ALERT_OPS'),
    }),
  )
  expect(stateOf(given.findings, 'alerts')).toBeUndefined()
})

test.concurrent('a signal without a safe secret is what a start refuses; its port is looked at', async () => {
  const project = projects.open()
  const port = await findPort()
  const tv = `tv: { secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 60000, fields: { is: { type: boolean } } }`
  project.write(
    'config/paper.yaml',
    `${project.read('config/paper.yaml')}\nsignals: { port: ${port}, accept: { ${tv} } }\n`,
  )

  const [lacking, weak, given] = await Promise.all(
    [{}, { INTENTD_SIGNAL_TV: 'short' }, { INTENTD_SIGNAL_TV: 'a'.repeat(48) }].map((env) =>
      look(project, [], env),
    ),
  )

  const secretOf = (one: Looked | undefined) => one?.findings.find(({ what }) => what === 'signals')
  expect([lacking?.code, weak?.code, given?.code]).toEqual([1, 1, 0])
  expect(secretOf(lacking)).toMatchObject({
    state: 'fail',
    found: expect.stringContaining('INTENTD_SIGNAL_TV'),
    advice: expect.stringContaining('openssl rand -hex 24'),
  })
  expect(secretOf(weak)?.found).toContain('expected 16 to 200 characters')
  expect(weak?.text).not.toContain('short')
  expect(secretOf(given)).toMatchObject({ state: 'ok', found: 'each has its secret: tv' })
  expect(given?.findings).toContainEqual({
    state: 'ok',
    what: 'signals port',
    found: `127.0.0.1:${port} is free`,
  })
})

interface Exchange {
  readonly clockAheadMs?: number
  readonly positionMode?: PositionMode
  readonly secret?: Secret
  readonly role?: 'copyTrader'
  /** What else stands in the configuration. */
  readonly overrides?: readonly string[]
}

/** What is found of an exchange in this process. */
async function lookAtExchange({
  clockAheadMs = 0,
  positionMode,
  secret,
  role,
  overrides = [],
}: Exchange = {}) {
  const workspace = new Workspace()
  workspace.fill({ 'config/main.yaml': MAIN.replace(SIMULATOR_SECTION, '') })
  const clock = {
    now: () => systemClock.now() + clockAheadMs,
    monotonic: () => systemClock.monotonic(),
  }
  const simulator = await startSimulator({
    market: { kind: 'seeded' },
    seed: 1,
    clock,
    accounts: [
      {
        uid: SIMULATED_UID,
        label: 'one',
        balances: { USDT: '10000' },
        positionMode: positionMode ?? 'one_way_mode',
        ...(role && { role }),
      },
    ],
  })
  try {
    const { loaded, problems } = workspace.read([
      `exchange.baseUrl=${simulator.baseUrl}`,
      ...overrides,
    ])
    if (loaded === undefined) throw new Error(JSON.stringify(problems))
    const keys = credentialsOf(simulator)
    const credentials = { ...keys, apiSecret: secret ?? keys.secret }
    if (positionMode !== undefined) await holdSomething(simulator, positionMode)
    return await examineExchange(loaded, credentials, undefined)
  } finally {
    await simulator.stop()
    workspace.remove()
  }
}

/** Buys the smallest size, so that a position says in which mode the account is. */
async function holdSomething(
  simulator: RunningSimulator,
  positionMode: PositionMode,
): Promise<void> {
  const client = new ExchangeClient({
    baseUrl: simulator.baseUrl,
    credentials: credentialsOf(simulator),
    positionMode,
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    ...CALLING,
  })
  const tradeSide = positionMode === 'hedge_mode' ? ({ tradeSide: 'open' } as const) : {}
  const answer = await client.call('batchPlaceOrder', {
    symbol: 'BTCUSDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'crossed',
    orderList: [
      {
        size: '0.001',
        side: 'buy',
        orderType: 'market',
        ...tradeSide,
      },
    ],
  })
  await client.close()
  expect(answer.kind).toBe('accepted')
}

const notOk = (findings: readonly CheckFinding[]) =>
  findings.flatMap(({ state, what }) => (state === 'ok' ? [] : [`${what} ${state}`]))

test('an exchange that answers: what it says, and what nobody can check from here', async () => {
  const findings = await lookAtExchange()

  expect(findings.map(({ what }) => what)).toEqual([
    'exchange',
    'clock',
    'key accepted',
    'position mode',
    'tier',
    'precision',
    'key rights',
  ])
  const unseen = ['position mode notChecked', 'precision notChecked', 'key rights notChecked']
  expect(notOk(findings)).toEqual(unseen)

  const demo = await lookAtExchange({ overrides: ['exchange.demo=true'] })
  expect(demo.find(({ what }) => what === 'environment')?.found).toMatch(/^demo: .*paptrading/)
})

test.each([
  [
    'a secret that is wrong',
    { secret: new Secret('wrongsecret') },
    'key accepted fail',
    'INTENTD_API_SECRET',
  ],
  ['a clock that is 10 s behind', { clockAheadMs: 10_000 }, 'clock warn', 'set-ntp'],
  [
    'a position of the other mode',
    { positionMode: 'hedge_mode' },
    'position mode fail',
    'hedge_mode',
  ],
  [
    'a position of the other margin mode',
    { positionMode: 'one_way_mode', overrides: ['account.marginMode=isolated'] },
    'margin mode fail',
    'account.marginMode: crossed',
  ],
  [
    'a position with another leverage',
    { positionMode: 'one_way_mode', overrides: ['instruments.BTCUSDT.leverage=3'] },
    'leverage fail',
    'instruments.BTCUSDT.leverage: ',
  ],
  [
    'a tick that is too coarse',
    { overrides: ['instruments.BTCUSDT.tickSize=7'] },
    'precision fail',
    'tickSize',
  ],
  ['an account that others copy', { role: 'copyTrader' }, 'tier warn', 'account.tier: copyTrader'],
  [
    'one that nobody copies',
    { overrides: ['account.tier=copyTrader'] },
    'tier warn',
    'account.tier: ordinary',
  ],
  [
    'nobody there',
    { overrides: ['exchange.baseUrl=http://127.0.0.1:1'] },
    'exchange fail',
    'baseUrl',
  ],
] as const)('%s is found, with what to do', async (_title, place, wanted, advice) => {
  const findings = await lookAtExchange(place)

  expect(notOk(findings)).toContain(wanted)
  expect(findings.find((one) => wanted.startsWith(`${one.what} `))?.advice).toContain(advice)
  expect(JSON.stringify(findings)).not.toContain('wrongsecret')
})

test('a position of the right mode says so', async () => {
  const findings = await lookAtExchange({ positionMode: 'one_way_mode' })

  expect(stateOf(findings, 'position mode')).toBe('ok')
})

test.concurrent('a key that is missing fails, and the rest is looked at all the same', async () => {
  const project = projects.open()
  writeRemote(project)

  const { code, findings } = await look(project, [
    '-c',
    'config/remote.yaml',
    '--set',
    'exchange.baseUrl=http://127.0.0.1:1',
  ])

  expect(code).toBe(1)
  expect(findings.filter(({ what }) => what === 'keys').map(({ state }) => state)).toEqual([
    'fail',
    'fail',
    'fail',
  ])
  expect(stateOf(findings, 'exchange')).toBe('fail')
  expect(stateOf(findings, 'disk')).toBe('ok')
})

test.concurrent('what others may read or change is said, with the command that ends it', async () => {
  const project = projects.open()
  project.write('.env', 'INTENTD_API_KEY=abc\n')
  chmodSync(join(project.directory, '.env'), 0o644)
  mkdirSync(join(project.directory, '.intentd/paper'), { recursive: true })
  chmodSync(join(project.directory, '.intentd/paper'), 0o755)

  const { code, findings } = await look(project, [])

  expect(code).toBe(1)
  expect(findings.find(({ what }) => what === '.env')).toMatchObject({
    state: 'fail',
    advice: `chmod 600 ${join(project.directory, '.env')}`,
  })
  expect(stateOf(findings, 'state directory')).toBe('fail')
})

test.concurrent('files that others may replace fail, and a start refuses them, as root too', async () => {
  const project = projects.open()
  project.write('elsewhere/sizes.ts', 'export const size = 1\n')
  project.edit('strategies/trend.ts', 'import ', "import '../elsewhere/sizes.ts'\nimport ")
  const [helper, folder] = ['elsewhere/sizes.ts', 'config/strategies'].map((name) =>
    join(project.directory, name),
  ) as [string, string]
  chmodSync(helper, 0o666)
  chmodSync(folder, 0o777)
  const isRoot = process.geteuid?.() === 0
  // No user of this machine.
  if (isRoot) chownSync(join(project.directory, 'strategies/grid.ts'), 4_000_123, 4_000_123)

  const { code, findings } = await look(project, [])
  const refused = project.run()
  expect((await refused.ended).code).toBe(78)
  const trusted = project.run(['--trust-files'])
  await trusted.untilEvent('daemon.opened')
  await trusted.stop('SIGKILL')

  expect(code).toBe(1)
  for (const said of [JSON.stringify(findings), refused.stderr.join('\n')]) {
    expect(said).toContain(`chmod go-w ${helper}`)
    expect(said).toContain(`chmod go-w ${folder}`)
    if (isRoot) expect(said).toContain('strategies/grid.ts')
  }
  expect(refused.stderr.join('\n')).toContain('--trust-files')
  expect(stateOf(findings, 'program')).toBe('ok')
})

test.concurrent('a configuration that is wrong fails, and so does a disk without room', async () => {
  const project = projects.open()

  const wrong = await look(project, ['--set', 'onStop=stay'])
  const full = await look(project, ['--set', 'state.freeBytesMin=1000000000000'])

  expect({ code: wrong.code, state: stateOf(wrong.findings, 'configuration') }).toEqual({
    code: 1,
    state: 'fail',
  })
  expect({ code: full.code, state: stateOf(full.findings, 'disk') }).toEqual({
    code: 1,
    state: 'fail',
  })
})

test.concurrent('a daemon that runs and a kill that stands are named, and a lock of one that was killed is free', async () => {
  const project = projects.open()
  const run = project.run()
  await run.untilEvent('daemon.running')
  const { findings } = await look(project, [])
  run.kill('SIGKILL')
  await run.ended
  project.write('.intentd/paper/KILL', '')
  const killed = await look(project, [])

  expect(findings.find(({ what }) => what === 'state lock')?.found).toContain(`pid ${run.pid}`)
  expect(killed.findings.find(({ what }) => what === 'state lock')?.found).toBe(
    'no daemon holds the state',
  )
  expect(stateOf(killed.findings, 'kill switch')).toBe('warn')
})

test('another state whose daemon trades the same account is named', () => {
  const workspace = new Workspace()
  workspace.fill()
  const config = workspace.read().loaded?.config
  if (config === undefined) throw new Error('the configuration cannot be read')
  vi.stubEnv('HOME', workspace.directory)
  const [apiKey, secret, passphrase] = [
    new Secret('key'),
    new Secret('secret'),
    new Secret('passphrase'),
  ]
  const access = {
    baseUrl: 'https://exchange.example',
    credentials: { apiKey, secret, passphrase },
  }
  const holder = { pid: 7, since: 0, host: 'here', name: 'other', command: 'run' }

  const free = examineLocks(config, access)
  const lock = holdAccount({ access, holder, onUnlocked: (reason) => expect.unreachable(reason) })
  const held = examineLocks(config, access)
  lock.release()
  vi.unstubAllEnvs()
  workspace.remove()

  expect(stateOf(free, 'account lock')).toBe('ok')
  expect(held.find(({ what }) => what === 'account lock')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('other, pid 7 on here') as string,
  })
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
  [
    'pm2 that takes a kill for an end',
    { stop_exit_codes: [0, 78] },
    'fail',
    'stop_exit_codes holds 0',
  ],
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

  const [first] = examineSupervisors({
    cwd: project.directory,
    stopMs: 69_000,
    systemUnits: '/nowhere',
  })

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
  [
    'a unit that Node does not survive',
    'MemoryDenyWriteExecute=yes\n',
    'fail',
    'MemoryDenyWriteExecute',
  ],
])('%s', (_title, more, state, found) => {
  const project = projects.open()
  project.write('intentd.service', `[Service]\n${GOOD_UNIT}${more}`)

  const [first] = examineSupervisors({
    cwd: project.directory,
    stopMs: 69_000,
    systemUnits: '/nowhere',
  })

  expect(first?.state).toBe(state)
  expect(first?.found).toContain(found)
})

test('another Node and another system are warned of, and on Windows nothing trades with money', () => {
  const live = {
    environment: 'live',
    exchange: {
      requestTimeoutMs: 1,
      answerBytesMax: 1,
      locale: 'en-US',
      limitsUse: 1,
      demo: false,
      beyondDocument: false,
      beyondDocumentPrivate: false,
    },
  } as const

  expect(examineRuntime('v24.1.0', 'linux').map(({ state }) => state)).toEqual(['ok', 'ok'])
  expect(examineRuntime('v26.0.0', 'win32').map(({ state }) => state)).toEqual(['warn', 'warn'])
  expect(() => assertSupported(live, 'win32')).toThrow('PLATFORM_UNSUPPORTED')
  expect(() => assertSupported({ ...live, environment: 'simulator' }, 'win32')).not.toThrow()
  expect(() => assertSupported(live, 'linux')).not.toThrow()
})
