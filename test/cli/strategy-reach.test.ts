import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { writeStrategy } from '../support/made-limits.ts'
import { TRICKS, waysOut } from '../support/ways-out.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** The settings of the strategy that tries everything. */
const HOSTILE = {
  id: 'trend-btc',
  module: '../../own/hostile.ts',
  instruments: ['BTCUSDT'],
}

const KEYS = { INTENTD_CANARY: 'canary-in-the-environment' }

/** Code that tries to write files, to tell keys and to reach a port. */
const tryAll = (project: Project, port: number): string => `
  const attempt = (run) => { try { run() } catch { /* refused */ } }
  attempt(() => globalThis.process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(join(project.directory, '.written'))}, '1'))
  attempt(() => globalThis.process.getBuiltinModule('child_process').execFileSync('touch', [${JSON.stringify(join(project.directory, '.touched'))}]))
  attempt(() => new Function('return process')().getBuiltinModule('fs').writeFileSync(${JSON.stringify(join(project.directory, '.again'))}, '1'))
  attempt(() => console.log(globalThis.process.env['INTENTD_CANARY']))
  attempt(() => console.log(globalThis.process.getBuiltinModule('fs').readFileSync(${JSON.stringify(join(project.directory, '.env'))}, 'utf8')))
  attempt(() => console.log(globalThis.process.getBuiltinModule('fs').readFileSync('/proc/self/environ', 'utf8')))
  attempt(() => { void globalThis.fetch('http://127.0.0.1:${port}').catch(() => undefined) })
`

test('[SEC1] check and test run the code of a strategy without keys, files of others and programs; check without the network', async () => {
  const network = await countConnections()
  const project = projects.open()
  const all = tryAll(project, network.port)
  project.write('.env', 'INTENTD_OTHER=canary-in-a-file\n')
  project.write(
    'own/hostile.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
const act = () => {${all}}
act()
export default defineStrategy({
  name: 'hostile', params: z.strictObject({}).transform((params) => (act(), params)),
  needs: () => (act(), { candles: { '1m': 5 } }), check: () => (act(), []),
  initialState: () => (act(), {}), decide: () => (act(), { intents: [], state: {} }),
})
`,
  )
  project.write('config/strategies/trend-btc.yaml', writeStrategy(HOSTILE))
  writeFileSync(
    join(project.directory, 'hostile.test.ts'),
    `import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { matchGolden, runSeries } from 'intentd/testing'
import strategy from './own/hostile.ts'
test('it decides', () => {
  const decisions = runSeries({ strategy, params: {}, prices: [1, 2, 3] })
  matchGolden('hostile.golden', decisions)
  if (!existsSync('hostile.golden')) throw new Error('no golden run')
})
`,
  )

  const check = project.start(['check'], KEYS)
  const checked = await check.ended
  const connectionsOfCheck = network.connections
  const tests = project.start(['test', 'hostile.test.ts'], KEYS)
  const tested = await tests.ended

  expect([check.stderr.join('\n'), checked.code]).toEqual(['', 0])
  expect([tests.stderr.join('\n'), tested.code]).toEqual(['', 0])
  expect(tests.stdout.join('\n')).toMatch(/pass 1/)
  expect([...check.stdout, ...tests.stdout].join('\n')).not.toContain('canary')
  for (const name of ['.written', '.touched', '.again'])
    expect(existsSync(join(project.directory, name))).toBe(false)
  expect(existsSync(join(project.directory, 'hostile.golden'))).toBe(true)
  expect(connectionsOfCheck).toBe(0)
})

test('[SEC1] no command that plays prices or a recording lets the code of a strategy out of its thread', async () => {
  const network = await countConnections()
  const project = projects.open()
  const secret = join(project.directory, '.env')
  project.write('.env', 'INTENTD_OTHER=canary-in-a-file\n')
  project.write('own/tricks.cjs', TRICKS)
  project.write('config/strategies/trend-btc.yaml', writeStrategy(HOSTILE))
  project.edit(
    'config/paper.yaml',
    /^strategies:[^]*/m.exec(project.read('config/paper.yaml'))?.[0] ?? '',
    'strategies: [strategies/trend-btc.yaml]\n',
  )
  const strategy = (acts: string): string => `import { defineStrategy, z } from 'intentd/strategy'
${acts}
export default defineStrategy({
  name: 'hostile', params: z.strictObject({ any: z.number().default(1) }).prefault({}), initialState: () => ({ tried: false }),
  decide(_, { state }) { if (!state.tried) act(); return { intents: [], state: { tried: true } } },
})
`
  project.write('own/hostile.ts', strategy('const act = () => undefined'))
  const recorded = project.run(['--set', 'record=true', '--set', 'simulator.speed=60'])
  await recorded.until('some decisions', () => recorded.events('daemon.running').length > 0)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await recorded.stop()
  project.write(
    'own/hostile.ts',
    strategy(`${waysOut(join(project.directory, 'own'), secret)}
attempts['fetch'] = () => fetch('http://127.0.0.1:${network.port}')
const reached = await findReached()
if (Object.keys(attempts).length < 50) throw new Error('too few attempts')
if (reached.length > 0) throw new Error('reached: ' + reached.join(', '))
const act = () => {
  for (const [name, attempt] of Object.entries(tricks.attempts('', ${JSON.stringify(secret)}))) {
    try { attempt() } catch { continue }
    throw new Error('reached: ' + name)
  }
}`),
  )
  project.write('sweep.yaml', 'params: { trend-btc: { any: [1, 2] } }\nfolds: 0\n')
  const recordings = findRecordings(project)
  const seeded = [
    'config/paper.yaml',
    '--market',
    'seeded',
    '--days',
    '1',
    '--set',
    'backtest.pollMs=60000',
  ]
  const play = async (...args: readonly string[]) => {
    const run = project.start(args, KEYS)
    const { code } = await run.ended
    return [code, run.stderr.join('\n').replaceAll(/^.*\r/gm, ''), run.stdout.join('\n')] as const
  }
  const commands = {
    backtest: ['backtest', ...seeded, '--out', 'new/report'],
    sweep: ['sweep', ...seeded, '--params', 'sweep.yaml', '--jobs', '1'],
    'check-bias': ['check-bias', ...seeded],
    parity: ['parity', recordings, '--out', 'both'],
    replay: ['replay', recordings, '--strategy', 'config/strategies/trend-btc.yaml'],
  }
  for (const [name, args] of Object.entries(commands)) {
    const [code, errors, text] = await play(...args)
    expect([name, code, errors]).toEqual([name, 0, ''])
    expect(`${errors}${text}`).not.toMatch(/canary|reached/)
  }
  // The attempts are real: who says that the code was read gives it everything.
  project.write(
    'config/strategies/trend-btc.yaml',
    writeStrategy({ ...HOSTILE, isolation: 'inline' }),
  )
  const [code, errors] = await play(...commands.backtest)

  expect([code, errors]).toEqual([78, expect.stringMatching(/reached: .*require.*import\(\)/)])
  expect(network.connections).toBe(1)
})

function findRecordings(project: Project): string {
  const environments = join(project.directory, '.intentd')
  const paths = readdirSync(environments, { recursive: true, encoding: 'utf8' })
  return join(environments, paths.find((path) => path.endsWith('recordings')) ?? '')
}

interface CountedPort {
  readonly port: number
  connections: number
}

/** A port of this machine that counts its connections; it is closed with the test. */
async function countConnections(): Promise<CountedPort> {
  const counted = { port: 0, connections: 0 }
  const server = createServer((socket) => {
    counted.connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  counted.port = (server.address() as AddressInfo).port
  return counted
}
