import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { LAUNCHER, programWords } from '../process/program-words.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

const INSTALLATION = fileURLToPath(new URL('../../../', import.meta.url))

const SCHEMAS = ['intentd', 'simulator', 'strategy'].map(
  (name) => `config/schema/${name}.schema.json`,
)

const COPIED = ['.env.example', 'config/simulator.yaml', ...SCHEMAS]

export type InitFiles = ReadonlyMap<string, string>

/** @param directory absolute */
export function buildInitFiles(directory: string): InitFiles {
  const configs = ['live.example', 'paper-live.example'].map((name) => `config/${name}.yaml`)
  return new Map([
    ...COPIED.map((path): [string, string] => [path, readShipped(path)]),
    ...configs.map((path): [string, string] => [path, withOwnStrategy(readShipped(path))]),
    ['config/paper.yaml', withOwnMarket(withOwnStrategy(readShipped('config/paper.yaml')))],
    ['config/strategies/dip.yaml', DIP_CONFIG],
    ['strategies/dip.ts', DIP_STRATEGY],
    ['strategies/dip.test.ts', DIP_TEST],
    ['ecosystem.config.cjs', buildEcosystem()],
    ['intentd.service', buildUnit(directory)],
    ['package.json', buildPackage(directory)],
    ['tsconfig.json', buildTypeScriptConfig()],
    ['.gitignore', IGNORED],
  ])
}

function readShipped(path: string): string {
  return readFileSync(join(INSTALLATION, path), 'utf8')
}

/** Shipped configurations end with the list of strategies. */
function withOwnStrategy(text: string): string {
  return text.replace(/^strategies:\n(?:[ \t]*-.*\n?)+/m, 'strategies:\n  - strategies/dip.yaml\n')
}

/** In most markets it takes hours until dip trades. */
function withOwnMarket(text: string): string {
  return text.replace(
    /^  seed: 1$/m,
    `  seed: ${DIP_SEED} # a market in which dip buys within half a minute of the first start`,
  )
}

const DIP_SEED = 290

function buildEcosystem(): string {
  return readShipped('ecosystem.config.cjs')
    .replace(/^const program = .*$/m, () => `const program = ${JSON.stringify(LAUNCHER)}`)
    .replace(/^const node = .*$/m, () => `const node = ${JSON.stringify(process.execPath)}`)
}

export function unitUser(): string {
  return isRoot() ? SERVICE_USER : userInfo().username
}

export function listUserCommands(directory: string): readonly string[] {
  if (!isRoot()) return []
  const folder = toShellWord(directory)
  return [
    `useradd --system --home-dir ${folder} --shell /usr/sbin/nologin ${SERVICE_USER}`,
    `chown -R ${SERVICE_USER}: ${folder}`,
  ]
}

const SERVICE_USER = 'intentd'

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Doubles each %, which begins a specifier in a unit. */
function buildUnit(directory: string): string {
  const escape = (path: string): string => path.replaceAll('%', '%%')
  const quote = (path: string): string => JSON.stringify(escape(path))
  const command = `${quote(process.execPath)} --disable-sigusr1 ${quote(LAUNCHER)} run --config config/live.yaml`
  return readShipped('deploy/intentd.service')
    .replace(
      /^# systemd unit\.[^]*?\n\n/,
      () => '# Written by `intentd init`. The keys are /etc/intentd/api-*, mode 0600.\n\n',
    )
    .replace(/^User=.*$/m, () => `User=${unitUser()}`)
    .replace(/^WorkingDirectory=.*$/m, () => `WorkingDirectory=${escape(directory)}`)
    .replace(/^ReadWritePaths=.*$/m, () => `ReadWritePaths=${quote(directory)}`)
    .replace(/^ExecStart=.*$/m, () => `ExecStart=${command}`)
}

/** Takes types from the sources of a checkout, or the declarations of a package. */
function buildTypeScriptConfig(): string {
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    paths: {
      'intentd/strategy': findTypes('strategy/contract'),
      'intentd/testing': findTypes('strategy/testing/testing'),
    },
  }
  return toJson({ compilerOptions, include: ['strategies'] })
}

function findTypes(module: string): readonly string[] {
  return [`src/${module}.ts`, `dist/${module}.d.ts`]
    .map((path) => join(INSTALLATION, path))
    .filter((path) => existsSync(path))
    .slice(0, 1)
}

function buildPackage(directory: string): string {
  const { devDependencies = {} } = parseBoundedJson(readShipped('package.json')) as {
    readonly devDependencies?: Readonly<Record<string, string>>
  }
  return toJson({
    private: true,
    type: 'module',
    scripts: { test: `${programWords(directory)} test` },
    devDependencies: Object.fromEntries(
      TYPE_PACKAGES.flatMap((name) =>
        devDependencies[name] ? [[name, devDependencies[name]]] : [],
      ),
    ),
  })
}

const TYPE_PACKAGES = ['@types/node', 'typescript']

const toJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

const IGNORED = `.env
.intentd/
backtests/
node_modules/
*.log
`

const DIP_CONFIG = `# yaml-language-server: $schema=../schema/strategy.schema.json

id: dip
module: ../../strategies/dip.ts
instruments: [BTCUSDT]
params: { size: "0.01", below: -0.02 }
risk: { positionMax: "0.01", positionNotionalMax: "1500", orderSizeMax: "0.01", openOrdersMax: 2 }
`

const DIP_STRATEGY = `import { defineStrategy, positiveDecimal, z } from 'intentd/strategy'

/** Long while the price is so far below that of a day ago, else flat. A place to begin, nothing to trade with. */
export default defineStrategy({
  name: 'dip',
  params: z.strictObject({
    size: positiveDecimal('Size of the position, in the base coin.'),
    below: z.number().max(0).meta({ description: 'Change within 24 hours, as a ratio: -0.02 is two per cent.' }),
  }),
  initialState: () => ({}),
  decide(snapshot, { params, state }) {
    const intents = snapshot.instruments.map((market) =>
      market.target(market.change24h < params.below ? market.lots(params.size) : 0),
    )
    return { intents, state }
  },
})
`

const DIP_TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeries } from 'intentd/testing'
import dip from './dip.ts'

const params = { size: '0.01', below: -0.02 }

/** The positions that it wanted, in lots of 0.001, after this change within 24 hours. */
function targetsAt(change24h: number): unknown {
  const [decision] = runSeries({ strategy: dip, params, prices: [60_000], columns: { change24h } })
  return decision?.intents.map((intent) => (intent.kind === 'target' ? intent.lots : intent.kind))
}

test('it is long after a fall of more than two per cent, else flat', () => {
  assert.deepEqual(targetsAt(-0.03), [10])
  assert.deepEqual(targetsAt(-0.01), [0])
})
`
