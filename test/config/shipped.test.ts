import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'dotenv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSection } from '../../src/config/yaml/checked-file.ts'
import { findUndecidedLosses, listMissingProtection } from '../../src/config/live-checks.ts'
import { readConfig } from '../../src/config/load-config.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { buildSchemaFiles } from '../../src/config/write-schemas.ts'
import {
  embeddedSimulatorSchema,
  readingsSchema,
} from '../../src/config/schema/simulator-schema.ts'
import { toEngineSettings, toInstruments } from '../../src/assembly/settings/engine-settings.ts'
import { readStrategies, requireCode } from '../../src/assembly/strategies/strategies.ts'
import { defaultCoreSettings } from '../../src/simulator/futures/settings.ts'
import { loadStrategy } from '../../src/strategy/load-strategy.ts'
import { checkPurity } from '../../src/strategy/testing/check-purity.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const config = join(project, 'config')
const yamlFiles = readdirSync(config, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.yaml'),
)

// The files must load from wherever the daemon is started.
const before = process.cwd()
beforeAll(() => process.chdir('/'))
afterAll(() => process.chdir(before))

/** What only the operator knows, of each shipped example. */
const DECIDED: Readonly<Record<string, readonly string[]>> = {
  'live.example.yaml': [
    'exchange.baseUrl=https://api.exchange.example',
    'account.capital=1000',
    'risk.losses.daily=50',
    'alerts.targets.0.kind=slack',
  ],
  'paper-live.example.yaml': ['simulator.market.live.baseUrl=https://api.exchange.example'],
}
const readShipped = (file: string) =>
  readConfig({ file: join(config, file), overrides: DECIDED[file] ?? [], cwd: project })

test.each(['live.example.yaml', 'paper-live.example.yaml'])(
  '[CFG1] the shipped %s is refused until what only the operator knows is decided, and says what to write',
  (file) => {
    const { problems, loaded } = readConfig({ file: join(config, file), cwd: project })

    expect(loaded).toBeUndefined()
    expect(problems.map(({ path }) => path)).toEqual(
      DECIDED[file]?.map((text) => text.split('=')[0]),
    )
    for (const problem of problems) {
      expect(formatProblem(problem)).toMatch(
        /^config\/\S+\.example\.yaml:\d+:\d+ \S+: you have to decide this: write .*\. \w/,
      )
    }
  },
)

test('the shipped example for real money has every protection that check asks for', () => {
  const { loaded } = readShipped('live.example.yaml')
  if (!loaded) throw new Error('the shipped example does not load')

  expect(findUndecidedLosses(loaded)).toEqual([])
  expect(listMissingProtection([loaded]).map(formatProblem)).toEqual([])
})

test.each(['paper.yaml', 'live.example.yaml', 'paper-live.example.yaml'])(
  'the shipped %s loads',
  (file) => {
    const { problems, loaded } = readShipped(file)

    expect(problems.map(formatProblem)).toEqual([])
    expect(loaded?.config.strategies.length).toBeGreaterThan(0)
  },
)

test('two shipped strategies share an instrument on paper', () => {
  const { loaded } = readConfig({ file: join(config, 'paper.yaml'), cwd: project })

  const symbols = loaded?.config.strategies.flatMap(({ instruments }) => instruments)

  expect(symbols?.filter((symbol) => symbol === 'BTCUSDT')).toHaveLength(2)
})

test('the shipped strategies take the params of their files', async () => {
  const { loaded } = readConfig({ file: join(config, 'paper.yaml'), cwd: project })

  const problems = await Promise.all(
    (loaded?.config.strategies ?? []).map(async ({ id, moduleFile }) => {
      const strategy = await loadStrategy(moduleFile)
      const source = loaded?.documents.strategies.get(id)
      const section = source && checkSection(source, strategy.params, ['params'])
      return section?.ok === false ? section.problems.map(formatProblem) : []
    }),
  )

  expect(problems).toEqual(problems.map(() => []))
})

/** Examples that want more of the main file than paper.yaml has. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'follow.yaml': [
    'signals={"port":0,"accept":{"tv":{"secretVariable":"INTENTD_SIGNAL_TV","maxAgeMs":60000,"fields":{"action":{"type":"text"}}}}}',
  ],
}
const examples = readdirSync(join(config, 'strategies', 'examples'))

test.each(examples)(
  'the example %s is found good in paper.yaml, and asked twice says the same',
  async (name) => {
    const overrides = [`strategies=["strategies/examples/${name}"]`, ...(NEEDED[name] ?? [])]
    const { problems, loaded } = readConfig({
      file: join(config, 'paper.yaml'),
      overrides,
      cwd: project,
    })
    expect(problems.map(formatProblem)).toEqual([])
    if (!loaded) throw new Error('unreachable: no problem, and nothing loaded')

    const instruments = toInstruments(loaded.config)
    const read = await readStrategies(loaded.config, loaded.documents, instruments)

    expect(read.problems.map(formatProblem)).toEqual([])
    expect(read.strategies).toHaveLength(1)
    for (const one of read.strategies) {
      expect(checkPurity(requireCode(one), one.params, one.instruments)).toEqual({
        problems: [],
        failing: [],
        notes: [],
      })
    }
  },
)

test('every strategy that is shipped has a settings file, a test, and a section in the library', () => {
  const listNames = (folder: string, ending: string) =>
    readdirSync(join(project, folder))
      .filter((file) => file.endsWith(ending))
      .map((file) => file.slice(0, -ending.length))
  const library = readFileSync(join(project, 'docs', 'strategies-library.md'), 'utf8')
  const names = listNames('strategies', '.ts')

  expect(listNames('test/strategies', '.test.ts')).toEqual(names)
  expect(names.filter((name) => !library.includes(`\n## ${name}\n`))).toEqual([])
  const tables = library.split('<!-- figures: ').slice(1)
  expect(names.filter((name) => !tables[0]?.includes(`\n| ${name} |`))).toEqual([])
  expect(examples.map((file) => file.replace('.yaml', ''))).toEqual(
    names.filter((name) => name !== 'grid' && name !== 'trend'),
  )
})

test('the shipped simulator.yaml loads', () => {
  const simulator = loadSimulatorConfig({ file: join(config, 'simulator.yaml'), cwd: project })

  const { accounts } = simulator
  expect(new Set(accounts.map(({ positionMode }) => positionMode))).toEqual(
    new Set(['one_way_mode', 'hedge_mode']),
  )
  expect(new Set(accounts.map(({ role }) => role))).toEqual(new Set(['ordinary', 'copyTrader']))
  expect(new Set(accounts.map(({ boundToIps }) => boundToIps !== undefined))).toEqual(
    new Set([true, false]),
  )
  expect(accounts.map(({ gateway }) => gateway?.isWhitelisted)).toEqual(
    expect.arrayContaining([true, false]),
  )
})

// The document: "clientOid: Unique; idempotency window 20 minutes".
test('shipped exchanges know a clientOid for 20 minutes; only hostile.yaml lets it go with its order', () => {
  const simulator = loadSimulatorConfig({ file: join(config, 'simulator.yaml'), cwd: project })
  const embedded = ['paper.yaml', 'hostile.yaml'].map(
    (file) =>
      readConfig({ file: join(config, file), cwd: project }).loaded?.config.simulator?.idempotency,
  )

  expect([simulator.idempotency, ...embedded]).toEqual([
    'duplicateError',
    'duplicateError',
    'pendingOnly',
  ])
  expect(defaultCoreSettings).toMatchObject({
    idempotency: 'duplicateError',
    idempotencyWindowMs: 1_200_000,
  })
})

test('what the document leaves open, simulator.yaml and paper.yaml read as the defaults do', () => {
  const simulator = loadSimulatorConfig({ file: join(config, 'simulator.yaml'), cwd: project })
  const { loaded } = readConfig({ file: join(config, 'paper.yaml'), cwd: project })
  const byDefault = embeddedSimulatorSchema.parse({ seed: 1, market: {}, startingBalance: '1' })
  const readings = ['idempotency', 'businessErrorStatus', 'timestampToleranceMs'] as const

  for (const name of readings) {
    expect([name, simulator[name], loaded?.config.simulator?.[name]]).toEqual([
      name,
      byDefault[name],
      byDefault[name],
    ])
  }
  expect(simulator.readings).toEqual(readingsSchema.parse({}))
})

test('every shipped strategy file is used by a shipped main file', () => {
  const used = ['paper.yaml', 'live.example.yaml'].flatMap((file) => {
    const { loaded } = readShipped(file)
    return loaded?.config.strategies.map((strategy) => strategy.file) ?? []
  })

  const shipped = readdirSync(join(config, 'strategies'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => join(config, 'strategies', file))

  expect(new Set(used)).toEqual(new Set(shipped))
})

test.each(yamlFiles)('the first line of %s points at its schema', (file) => {
  const path = join(config, file)
  const [firstLine = ''] = readFileSync(path, 'utf8').split('\n')

  const schema = /^# yaml-language-server: \$schema=(\S+)$/.exec(firstLine)?.[1] ?? ''

  expect(schema).toMatch(/\.schema\.json$/)
  expect(existsSync(resolve(dirname(path), schema))).toBe(true)
})

test.each([...buildSchemaFiles()])(
  '%s is what the code says (else: npm run schemas)',
  (name, text) => {
    const written = readFileSync(join(config, 'schema', name), 'utf8')

    expect(JSON.parse(written)).toEqual(JSON.parse(text))
  },
)

test('every setting is described in the editor', () => {
  const undescribed = [...buildSchemaFiles()].flatMap(([name, text]) =>
    findUndescribed(JSON.parse(text), name),
  )

  expect(undescribed).toEqual([])
})

test('.env.example names every secret and holds none', () => {
  const variables = parse(readFileSync(join(project, '.env.example'), 'utf8'))

  expect(variables).toEqual({
    INTENTD_API_KEY: '',
    INTENTD_API_SECRET: '',
    INTENTD_API_PASSPHRASE: '',
  })
})

interface JsonSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
}

function findUndescribed(
  { properties = {}, additionalProperties, items }: JsonSchema,
  path: string,
): string[] {
  const below = [additionalProperties, items].filter((schema) => typeof schema === 'object')
  return [
    ...Object.entries(properties).flatMap(([key, schema]) => [
      ...(schema.description === undefined ? [`${path}.${key}`] : []),
      ...findUndescribed(schema, `${path}.${key}`),
    ]),
    ...below.flatMap((schema) => findUndescribed(schema, `${path}.*`)),
  ]
}

test('pm2 waits until a stop of twenty instruments has given up by itself', () => {
  const { loaded } = readShipped('live.example.yaml')
  if (!loaded) throw new Error('the shipped example does not load')
  const [contract] = Object.values(loaded.config.instruments)
  if (!contract) throw new Error('the shipped example has no instrument')
  const instruments = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`C${index}USDT`, contract]),
  )
  const traded = { ...loaded.config, instruments, strategies: [] }
  const { apps } = createRequire(import.meta.url)('../../ecosystem.config.cjs') as {
    apps: { kill_timeout: number }[]
  }

  const { execution } = toEngineSettings(traded, {
    salt: 'salt',
    version: '0',
    embedded: false,
    shown: new Map(),
  })

  expect(apps[0]?.kill_timeout).toBeGreaterThan(execution.stopTimeoutMs)
})
