import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { once } from 'node:events'
import { createServer, type Server, type AddressInfo } from 'node:net'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_TOOLS, toConfigWords, toolsFor } from '../../../src/cli/mcp/agent-tools.ts'
import type { Power } from '../../../src/control/powers.ts'
import { type Project, Projects } from '../../daemon/project.ts'

const projects = new Projects()
let project: Project
let drafts: string
const servers: Server[] = []
let connections = 0
let port = 0
let socket = ''

beforeAll(async () => {
  project = projects.open()
  drafts = join(project.directory, 'drafts')
  socket = join(project.directory, 'control.sock')
  for (const place of [socket, 0]) {
    const server = createServer((connection) => {
      connections += 1
      connection.destroy()
    })
    server.listen(...([place] as [never]))
    await once(server, 'listening')
    servers.push(server)
  }
  port = servers.map((one) => one.address() as AddressInfo)[1]?.port ?? 0
  const begun = await project.start(['new-strategy', 'mine', '--dir', drafts]).ended
  expect(begun.code).toBe(0)
  settings = project.read('drafts/mine.yaml')
  main = project.read('drafts/mine.paper.yaml')
  project.write('sweep.yaml', 'params: { mine: { length: [5, 6] } }\n')
})

let settings = ''
let main = ''

beforeEach(() => {
  connections = 0
  project.write('drafts/mine.yaml', settings)
  project.write('drafts/mine.paper.yaml', main)
})

afterAll(async () => {
  for (const server of servers) server.close()
  await projects.close()
})

const body = (top: string, act: string): string => `${top}
import { defineStrategy, z } from 'intentd/strategy'
const act = () => { try { ${act} } catch {} }
act()
export default defineStrategy({
  name: 'evil',
  params: z.looseObject({}).prefault({}).transform((params) => (act(), params)),
  needs: () => (act(), { candles: { '1m': 5 } }), check: () => (act(), []),
  initialState: () => (act(), {}), decide: () => (act(), { intents: [], state: {} }),
})
`

/** Each reaches the socket and the port in a process that guards nothing. */
function evils(): Readonly<Record<string, string>> {
  const reach = (net: string): string =>
    `for (const at of [${JSON.stringify(socket)}, ${port}]) ${net}.connect(at).on('error', () => undefined)`
  return {
    'static import': body("import net from 'node:net'", reach('net')),
    'a module beside it': body("import net from './beside.cjs'", reach('net')),
    'at run time': body(
      `const net = await import('net').catch(() => undefined)`,
      [
        reach('net'),
        `import('node:net').then((later) => { ${reach('later')} }, () => 0)`,
        reach("process.getBuiltinModule('net')"),
        reach("new Function('return process')().getBuiltinModule('net')"),
        `fetch('http://127.0.0.1:${port}').catch(() => undefined)`,
        `new WebSocket('ws://127.0.0.1:${port}')`,
      ].join(' } catch {} try { '),
    ),
  }
}

const POWERS = new Set<Power>(['look', 'research', 'safer', 'riskier'])

/** The words of every offered tool that takes a draft. */
function toolsWithDraft(): readonly (readonly [string, readonly string[]])[] {
  const named = { file: join(project.directory, 'config/paper.yaml'), set: [], strategies: drafts }
  const words = toConfigWords(named)
  return toolsFor(POWERS, named).flatMap((tool) => {
    const given = {
      draft: 'mine',
      ...(tool.name !== 'check' && { days: 1 }),
      ...(tool.name === 'sweep' && { sweep: 'sweep.yaml' }),
    }
    const input = tool.input.safeParse(given)
    return input.success
      ? [[tool.name, [tool.verb, ...tool.words(input.data, words)]] as const]
      : []
  })
}

test('an evil draft does reach the socket and the port where nothing guards it', async () => {
  project.write('drafts/beside.cjs', "module.exports = require('node:net')\n")
  project.write('drafts/open.paper.yaml', main.replace('mine.yaml', 'open.yaml'))
  project.write('drafts/open.yaml', `isolation: inline\n${settings}`)
  for (const [name, code] of Object.entries(evils())) {
    connections = 0
    project.write('drafts/mine.ts', code)
    await project.start(['check', '--no-types', '--config', 'drafts/open.paper.yaml']).ended
    expect([name, connections > 0]).toEqual([name, true])
  }
})

test('[SEC1] no code of a draft reaches a socket or a port by any tool that takes a draft', async () => {
  project.write('drafts/beside.cjs', "module.exports = require('node:net')\n")
  const offered = toolsWithDraft()
  expect(offered.map(([name]) => name)).toEqual(['check', 'backtest', 'sweep', 'check_bias'])
  for (const [evil, text] of Object.entries(evils())) {
    project.write('drafts/mine.ts', text)
    const ends = await Promise.all(offered.map(([, words]) => project.start(words).ended))
    expect([evil, connections]).toEqual([evil, 0])
    // Those that the guard lets load have run to their end.
    if (evil === 'at run time') expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  }
})

test('[SEC1] a draft that would run inline is refused before its code is loaded', async () => {
  project.write('drafts/mine.ts', evils()['static import'] ?? '')
  project.write('drafts/mine.yaml', `isolation: inline\n${settings}`)
  // Its own file cannot name another folder.
  project.write(
    'drafts/mine.paper.yaml',
    `${main.replace(/^control:[^]*?\n(?=\S)/m, '')}\ncontrol: { agents: { strategies: elsewhere } }\n`,
  )
  for (const [name, words] of toolsWithDraft()) {
    const command = project.start(words)
    const { code } = await command.ended
    expect([name, code]).not.toEqual([name, 0])
    expect([name, command.stderr.join('\n')]).toEqual([
      name,
      expect.stringMatching(/mine\.yaml:1:\d+.*isolation.*an assistant may write this strategy/s),
    ])
  }
  expect(connections).toBe(0)
})

test('[SEC1] a draft that a person has listed, also by a link, is not inline either', async () => {
  project.write('drafts/mine.ts', evils()['static import'] ?? '')
  project.write('drafts/mine.yaml', `isolation: inline\n${settings}`)
  mkdirSync(join(project.directory, 'own'))
  symlinkSync(join(drafts, 'mine.yaml'), join(project.directory, 'own/linked.yaml'))
  project.write(
    'own/of-a-person.yaml',
    `isolation: inline\n${settings.replace(/^module:.*$/m, 'module: ../drafts/mine.ts')}`,
  )
  for (const listed of ['../drafts/mine.yaml', '../own/of-a-person.yaml', '../own/linked.yaml']) {
    const command = project.start([
      'check',
      '--no-types',
      '--set',
      `strategies=["${listed}"]`,
      '--set',
      'control.agents={research: true, strategies: "../drafts"}',
    ])
    const { code } = await command.ended
    expect([listed, code]).toEqual([listed, 78])
    expect(command.stderr.join('\n')).toContain('an assistant may write this strategy')
  }
  expect(connections).toBe(0)
})

/** The folder of drafts, for a person's main file. */
const AGENTS = ['--set', 'control.agents={strategies: "../drafts"}']

test("[SEC1] a person's inline strategy that imports a draft is refused, by check, backtest and run", async () => {
  project.write('drafts/mine.ts', evils()['static import'] ?? '')
  project.write(
    'own/inline.yaml',
    `isolation: inline\n${settings.replace(/^module:.*$/m, 'module: inline.ts')}`,
  )
  const listed = ['--set', 'strategies=["../own/inline.yaml"]', ...AGENTS]
  for (const [way, code] of Object.entries({
    'static import': "export { default } from '../drafts/mine.ts'\n",
    'dynamic import': "export default (await import('../drafts/mine.ts')).default\n",
    require:
      "import { createRequire } from 'node:module'\ncreateRequire(import.meta.url)('../drafts/mine.ts')\nexport { default } from '../drafts/mine.ts'\n",
  })) {
    project.write('own/inline.ts', code)
    for (const words of [
      ['check', '--no-types', ...listed],
      ['backtest', '--market', 'seeded', '--days', '1', ...listed],
      ['run', ...listed],
    ]) {
      const command = project.start(words)
      const { code: exit } = await command.ended
      expect([way, words[0], exit]).toEqual([way, words[0], 78])
      expect(command.stderr.join('\n')).toMatch(/STRATEGY_DRAFT[^]*drafts\/mine\.ts/)
    }
  }
  expect(connections).toBe(0)
})

test('[SEC1] a draft is not played beside an inline strategy, whose thread has no guard', async () => {
  project.write('drafts/mine.ts', evils()['at run time'] ?? '')
  project.write(
    'own/plain.yaml',
    'id: plain\nisolation: inline\nmodule: plain.ts\ninstruments: [BTCUSDT]\nparams: {}\nrisk: { positionMax: "0.01", orderSizeMax: "0.01", openOrdersMax: 2 }\n',
  )
  project.write('own/plain.ts', body('', ''))
  const command = project.start([
    'backtest',
    '--market',
    'seeded',
    '--days',
    '1',
    '--set',
    'strategies=["../own/plain.yaml", "../drafts/mine.yaml"]',
    ...AGENTS,
  ])

  const { code } = await command.ended

  expect(command.stderr.join('\n')).toMatch(/STRATEGY_DRAFT[^]*drafts\/mine\.ts/)
  expect([code, connections]).toEqual([78, 0])
})

test('[SEC1] replay asks a draft within the guard, and refuses an inline one', async () => {
  const run = project.run(['-c', 'drafts/mine.paper.yaml', '--set', 'record=true'])
  await run.until('some decisions', () => run.events('daemon.running').length > 0)
  await run.stop()
  const places = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })
  const recordings = places.find((path) => path.endsWith('recordings')) ?? ''
  project.write('drafts/mine.ts', evils()['at run time'] ?? '')
  const replay = async (...words: readonly string[]) => {
    const command = project.start(['replay', recordings, '--strategy', ...words])
    const { code } = await command.ended
    return [code, command.stderr.join('\n')] as const
  }

  expect(await replay('drafts/mine.yaml', ...AGENTS)).toEqual([0, ''])
  project.write('drafts/mine.yaml', `isolation: inline\n${settings}`)
  expect(await replay('drafts/mine.yaml', ...AGENTS)).toEqual([
    78,
    expect.stringMatching(/mine\.yaml:1:\d+.*isolation.*an assistant may write this strategy/s),
  ])
  project.write(
    'own/inline.yaml',
    `isolation: inline\n${settings.replace(/^module:.*$/m, 'module: inline.ts')}`,
  )
  project.write('own/inline.ts', "export { default } from '../drafts/mine.ts'\n")
  expect(await replay('own/inline.yaml', ...AGENTS)).toEqual([
    78,
    expect.stringMatching(/STRATEGY_DRAFT[^]*drafts\/mine\.ts/),
  ])
  expect(connections).toBe(0)
})

test('[SEC1] tests run outside of the guard: no assistant runs them where it may write strategies', () => {
  const names = toolsFor(POWERS, { strategies: drafts }).map(({ name }) => name)
  const input = AGENT_TOOLS.find(({ name }) => name === 'test')?.input

  expect(names).not.toContain('test')
  expect(toolsFor(POWERS, {}).map(({ name }) => name)).toContain('test')
  expect(input?.safeParse({ draft: 'mine' }).success).toBe(false)
})
