import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

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
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const project = projects.open()
  const all = tryAll(project, (server.address() as AddressInfo).port)
  project.write('.env', 'INTENTD_OTHER=canary-in-a-file\n')
  project.write(
    'own/hostile.ts',
    `import { defineStrategy, z } from '#strategy'
const act = () => {${all}}
act()
export default defineStrategy({
  name: 'hostile', params: z.strictObject({}).transform((params) => (act(), params)),
  needs: () => (act(), { candles: { '1m': 5 } }), check: () => (act(), []),
  initialState: () => (act(), {}), decide: () => (act(), { intents: [], state: {} }),
})
`,
  )
  project.write(
    'config/strategies/trend-btc.yaml',
    'id: trend-btc\nmodule: ../../own/hostile.ts\ninstruments: [BTCUSDT]\nrisk: { positionMax: "1", orderSizeMax: "1", openOrdersMax: 4 }\n',
  )
  writeFileSync(
    join(project.directory, 'hostile.test.ts'),
    `import { test } from 'node:test'
import { existsSync } from 'node:fs'
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
  const connectionsOfCheck = connections
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
