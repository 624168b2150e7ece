import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findFunctions, parseSource } from './support/source-text.ts'
import { FLOORS, type Breach, checkHouse, checkTraces, judgeImport, toText } from './support/tidy.ts'

const ROOT = join(import.meta.dirname, '..')

describe('the house', () => {
  test('is tidy: floors, cycles, owned calls, lengths, names, dead files', () => {
    const sources = readFiles(['src', 'strategies', 'bin'].flatMap(listSources))

    expect(checkHouse(sources).map(toText)).toEqual([])
  })

  test('names no machine and no registry in any file that is kept', () => {
    const texts = readFiles(listKept())

    expect(checkTraces(texts).map(toText)).toEqual([])
  })

  test.each(Object.keys(FLOORS).filter((room) => room !== 'cli'))('lints %s by the same floors', (room) => {
    for (const { files, patterns } of readLintRules(room)) {
      const up = files[0]?.endsWith('/*/**') === true ? '../..' : '..'
      for (const other of Object.keys(FLOORS).filter((name) => name !== room)) {
        const banning = patterns.filter(({ regex }) => new RegExp(regex).test(`${up}/${other}/noun.ts`))
        const onTypes = banning.every((pattern) => pattern.allowTypeImports) ? 'types' : 'no'
        const verdict = banning.length === 0 ? 'yes' : onTypes
        expect(`${room} > ${other}: ${verdict}`).toBe(`${room} > ${other}: ${judgeImport(room, other)}`)
      }
    }
  })
})

describe('a planted breach is found', () => {
  /** What is planted (path, content), the rule that must find it, and in which line. */
  const planted: readonly { title: string; files: Record<string, string>; rule: string; line?: number }[] = [
    {
      title: 'an import of a higher floor',
      files: {
        'src/domain/order.ts': "\nimport { step } from '../engine/step.ts'\n",
        'src/engine/step.ts': '',
      },
      rule: 'floor',
      line: 2,
    },
    {
      title: 'an import of a higher floor, over several lines and of types',
      files: { 'src/market/poll.ts': "import type {\n  Step,\n} from '../engine/step.ts'\n" },
      rule: 'floor',
      line: 3,
    },
    {
      title: 'rooms of one floor that import each other',
      files: { 'src/risk/desk.ts': "import { plan } from '../execution/plan.ts'\n" },
      rule: 'floor',
    },
    {
      title: 'an import() of a higher floor',
      files: { 'src/lib/late.ts': "const late = await import('../cli/main.ts')\n" },
      rule: 'floor',
    },
    {
      title: 'a worker of a higher floor',
      files: { 'src/lib/late.ts': "new Worker(new URL('../cli/main.ts', import.meta.url))\n" },
      rule: 'floor',
    },
    {
      title: 'a re-export from a higher floor',
      files: { 'src/domain/order.ts': "export * from '../engine/step.ts'\nexport const one = 1\n" },
      rule: 'floor',
    },
    {
      title: 'a simulator that shares our domain',
      files: { 'src/simulator/book.ts': "import { Order } from '../domain/order.ts'\n" },
      rule: 'floor',
    },
    {
      title: 'a protocol that knows the domain',
      files: { 'src/protocol/table.ts': "import { Order } from '../domain/order.ts'\n" },
      rule: 'floor',
    },
    {
      title: 'an engine that calls the exchange client',
      files: { 'src/engine/step.ts': "import { ExchangeClient } from '../exchange/exchange-client.ts'\n" },
      rule: 'floor',
    },
    {
      title: 'a file outside the rooms',
      files: { 'src/stray.ts': 'export const one = 1\n' },
      rule: 'floor',
    },
    {
      title: 'a strategy that imports a package',
      files: { 'strategies/grid.ts': "import { z } from 'zod'\n" },
      rule: 'strategy-import',
    },
    {
      title: 'a room that imports the strategies’ face by its short name',
      files: { 'src/daemon/run.ts': "import { defineStrategy } from '#strategy'\n" },
      rule: 'strategy-import',
    },
    {
      title: 'a cycle of three files',
      files: {
        'src/domain/a.ts': "import { b } from './b.ts'\nexport const a = b\n",
        'src/domain/b.ts': "import { c } from './c.ts'\nexport const b = c\n",
        'src/domain/c.ts': "import { a } from './a.ts'\nexport const c = a\n",
      },
      rule: 'cycle',
    },
    ...[
      'Date.now()',
      'new Date()',
      'new Date',
      'performance.now()',
      'process.hrtime.bigint()',
      'Math.random()',
      'crypto.randomUUID()',
      'randomBytes(16)',
      'setTimeout(f, 1)',
      'globalThis.setInterval(f, 1)',
      'setImmediate(f)',
      'process.env',
      'process.exit(1)',
      "fetch('https://example.com')",
      '`${Date.now()}`',
    ].map((call) => ({
      title: `${call} by a file that does not own it`,
      files: { 'src/daemon/run.ts': `// why\nexport const x = ${call}\n` },
      rule: 'owned-call',
      line: 2,
    })),
    {
      title: 'a pure room that opens a file',
      files: { 'src/domain/order.ts': "import { readFileSync } from 'node:fs'\n" },
      rule: 'pure-import',
    },
    {
      title: 'a pure room that logs by itself',
      files: { 'src/engine/step.ts': "import pino from 'pino'\n" },
      rule: 'pure-import',
    },
    {
      title: 'a risk desk that awaits',
      files: { 'src/risk/desk.ts': 'export async function approve() {}\n' },
      rule: 'synchronous',
    },
    {
      title: 'a file behind the wall',
      files: { 'src/daemon/run.ts': 'export const x = 1\n'.repeat(401) },
      rule: 'file-length',
    },
    ...[
      ['function', 'export function run(at: { ms: number }): Promise<{ a: 1 }> {'],
      ['arrow', 'export const run = (): void => {'],
      ['method', 'export class Run {\n  async #run<T>(a: T, b = () => 1): Promise<void> {'],
    ].map(([kind, head]) => ({
      title: `a ${kind} behind the wall`,
      files: { 'src/daemon/run.ts': `${head}\n${'  x()\n'.repeat(69)}}\n${kind === 'method' ? '}\n' : ''}` },
      rule: 'function-length',
    })),
    {
      title: 'a name in camelCase',
      files: { 'src/daemon/runLoop.ts': 'export const x = 1\n' },
      rule: 'file-name',
    },
    { title: 'a folder called utils', files: { 'src/lib/utils/grid.ts': '' }, rule: 'file-name' },
    { title: 'a file called types', files: { 'src/domain/types.ts': '' }, rule: 'file-name' },
    {
      title: 'a barrel',
      files: { 'src/domain/nouns.ts': "import { a } from './a.ts'\nexport { a }\nexport * from './b.ts'\n" },
      rule: 'barrel',
    },
    {
      title: 'a file that nothing leads to',
      files: {
        'src/cli/main.ts': "import '../daemon/run.ts'\n",
        'src/daemon/run.ts': '',
        'src/daemon/left-over.ts': 'export const x = 1\n',
      },
      rule: 'dead-file',
    },
    { title: 'an any', files: { 'src/daemon/run.ts': 'export const x: any = 1\n' }, rule: 'any' },
    {
      title: 'an approval by somebody else than risk',
      files: { 'src/execution/plan.ts': 'export const x = intent as Approved<OrderIntent>\n' },
      rule: 'ticket',
    },
    {
      title: 'a recorded batch that nobody recorded',
      files: { 'src/daemon/door.ts': 'export const x = batch as Recorded<OutgoingBatch>\n' },
      rule: 'ticket',
    },
    { title: 'a cast to any', files: { 'src/daemon/run.ts': 'export const x = 1 as any\n' }, rule: 'any' },
    { title: 'a schema of any', files: { 'src/daemon/run.ts': 'export const x = z.any()\n' }, rule: 'any' },
    {
      title: 'a reminder',
      files: { 'src/daemon/run.ts': `export const x = 1 // ${'TO'}DO later\n` },
      rule: 'reminder',
    },
  ]

  test.each(planted)('$rule: $title', ({ files, rule, line }) => {
    const breaches = checkHouse(new Map(Object.entries(files))).filter((breach) => breach.rule === rule)

    expect(breaches).toHaveLength(1)
    if (line !== undefined) expect(breaches[0]?.line).toBe(line)
  })

  test.each([
    ['', 'home', 'ada', 'intentd'].join('/'),
    ['', 'Users', 'ada', 'intentd'].join('/'),
    ['', 'work', 'intentd'].join('/'),
    ['C:', 'Users', 'ada'].join('\\'),
    ['https://registry', 'example', 'org'].join('.'),
    `"resolved": "${'https'}://example.org/a.tgz"`,
  ])('trace: %s', (trace) => {
    const breaches = checkTraces(new Map([['README.md', `first\nsee ${trace} there\n`]]))

    expect(breaches).toMatchObject([{ rule: 'trace', line: 2 }])
  })
})

describe('what is no breach is left alone', () => {
  test.each([
    [
      'calls named in comments, strings, templates and patterns',
      "// Date.now()\nexport const a = ['Date.now()', `Math.random`, /process.exit/]\n",
    ],
    ['an instant given to Date', 'export const at = new Date(atMs)\n'],
    ['a method called fetch, a race called any', 'export const a = client.fetch(b) + AbortSignal.any(c)\n'],
    ['a division and a pattern in one line', 'export const a = b / c / d + e.split(/[\'"`]/).length / 2\n'],
    [
      'a table of many short functions',
      `export const a = {\n${'  f: () => {\n    g()\n  },\n'.repeat(40)}}\n`,
    ],
    ['a long interface of methods', `export interface A {\n${'  f(a: { b: 1 }): void\n'.repeat(90)}}\n`],
    ['an import of a lower floor', "import { Order } from '../domain/order.ts'\nexport const a: Order = 1\n"],
  ])('%s', (_title, source) => {
    expect(checkHouse(new Map([['src/daemon/run.ts', source]]))).toEqual([])
  })

  test('the owner of a call may use it', () => {
    expect(checkHouse(new Map([['src/lib/clock.ts', 'export const now = () => Date.now()\n']]))).toEqual([])
  })

  test('the engine may know the exchange by its types', () => {
    const whole = "import type { Reply } from '../exchange/reply.ts'\nexport type A = Reply\n"
    const inline =
      "import { type Reply, type Call } from '../exchange/reply.ts'\nexport type A = Reply | Call\n"

    expect(rulesOf('src/engine/step.ts', whole)).toEqual([])
    expect(rulesOf('src/engine/step.ts', inline)).toEqual([])
  })

  test('a house without rooms is tidy', () => {
    expect(checkHouse(new Map())).toEqual([])
  })
})

test('a source is read through nested templates, escapes and comments', () => {
  const source = 'const a = `x ${`y ${b /* c */} "`} z` // d\nimport "./e.ts"\nconst f = "\\"" + g\n'

  const { code, comments, imports } = parseSource(source)

  expect(code.split('\n')[0]?.trimEnd()).toBe('const a = `  ${`  ${b        }  `}  `')
  expect(comments.trim().split(/\s{2,}/)).toEqual(['/* c */', '// d'])
  expect(imports).toEqual([{ specifier: './e.ts', line: 2, typeOnly: false }])
  expect(code).toHaveLength(source.length)
})

test('the length of a function is counted from its opening to its closing brace', () => {
  expect(findFunctions('function a(): {\n  b: 1\n} {\n  c()\n}\n')).toEqual([{ line: 3, lines: 3 }])
  expect(findFunctions('if (a) {\n  b()\n}\nc(d)\n')).toEqual([])
})

function rulesOf(path: string, source: string): string[] {
  return checkHouse(new Map([[path, source]])).map(({ rule }: Breach) => rule)
}

interface LintRule {
  files: string[]
  patterns: { regex: string; allowTypeImports?: boolean }[]
}

/** What lint holds a room to: one rule, or one for each depth of its folders. */
function readLintRules(room: string): LintRule[] {
  const lint = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8'))
  const rules: LintRule[] = lint.overrides
    .filter((override: { rules: object }) => 'no-restricted-imports' in override.rules)
    .filter(({ files }: LintRule) => files.some((glob) => glob.startsWith(`src/${room}/`)))
    .map((override: { files: string[]; rules: Record<string, [string, LintRule]> }) => ({
      files: override.files,
      patterns: override.rules['no-restricted-imports']?.[1].patterns ?? [],
    }))
  if (rules.length === 0) throw new Error(`lint has no import rule for ${room}`)
  return rules
}

function listSources(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:ts|mjs)$/.test(path))
}

/** Tracked files and new ones; in an unpacked archive, where git knows nothing, the sources. */
function listKept(): string[] {
  if (!existsSync(join(ROOT, '.git'))) return ['src', 'strategies', 'bin', 'test'].flatMap(listSources)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  return listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && !path.endsWith('.gz'))
}

function readFiles(paths: readonly string[]): Map<string, string> {
  const present = paths.filter((path) => existsSync(join(ROOT, path)))
  return new Map(present.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}
