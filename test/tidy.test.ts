import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isLong, listShares, SAMPLES, startsPrograms } from './support/share.ts'
import { findFunctions, parseSource } from './support/source-text.ts'
import { checkTraces } from './support/tidy/shape.ts'
import { RULES, type Violation } from './support/tidy/source-tree.ts'
import { checkCommentOpenings, checkWords } from './support/tidy/words.ts'
import { checkSourceTree, toText } from './support/tidy.ts'

const ROOT = join(import.meta.dirname, '..')

/** Where the words of the glossary hold. */
const WORDED =
  /^(?:src\/|strategies\/|test\/(?!tidy\.test|support\/tidy\/words)|bench\/|conformance\/.*\.ts$|config\/.*\.yaml$|docs\/|(?:README|ARCHITECTURE|CONTRIBUTING)\.md$)/

describe('the source tree is tidy', () => {
  const kept = readFiles(listKept())
  const violations = [
    ...checkSourceTree(readFiles(['src', 'strategies', 'bin'].flatMap(listSources))),
    ...checkTraces(kept),
    ...checkWords(new Map([...kept].filter(([path]) => WORDED.test(path)))),
    ...checkCommentOpenings(kept),
  ]

  test.each(RULES)('%s', (rule) => {
    expect(violations.filter((violation) => violation.rule === rule).map(toText)).toEqual([])
  })
})

describe('a planted violation is found', () => {
  /** What is planted (path, content), the rule that must find it, and in which line. */
  const planted: readonly {
    title: string
    files: Record<string, string>
    rule: string
    line?: number
  }[] = [
    {
      title: 'an import of a higher layer',
      files: {
        'src/domain/order.ts': "\nimport { step } from '../engine/step.ts'\n",
        'src/engine/step.ts': '',
      },
      rule: 'layer',
      line: 2,
    },
    {
      title: 'an import of a higher layer, over several lines and of types',
      files: { 'src/market/poll.ts': "import type {\n  Step,\n} from '../engine/step.ts'\n" },
      rule: 'layer',
      line: 3,
    },
    {
      title: 'modules of one layer that import each other',
      files: { 'src/risk/checks.ts': "import { plan } from '../execution/plan.ts'\n" },
      rule: 'layer',
    },
    {
      title: 'an import() of a higher layer',
      files: { 'src/lib/late.ts': "const late = await import('../cli/main.ts')\n" },
      rule: 'layer',
    },
    {
      title: 'a worker of a higher layer',
      files: { 'src/lib/late.ts': "new Worker(new URL('../cli/main.ts', import.meta.url))\n" },
      rule: 'layer',
    },
    {
      title: 'a re-export from a higher layer',
      files: { 'src/domain/order.ts': "export * from '../engine/step.ts'\nexport const one = 1\n" },
      rule: 'layer',
    },
    {
      title: 'a simulator that shares our domain',
      files: { 'src/simulator/book.ts': "import { Order } from '../domain/order.ts'\n" },
      rule: 'layer',
    },
    {
      title: 'a protocol that knows the domain',
      files: { 'src/protocol/table.ts': "import { Order } from '../domain/order.ts'\n" },
      rule: 'layer',
    },
    {
      title: 'an engine that calls the exchange client',
      files: {
        'src/engine/step.ts': "import { ExchangeClient } from '../exchange/exchange-client.ts'\n",
      },
      rule: 'layer',
    },
    {
      title: 'a file outside the modules',
      files: { 'src/stray.ts': 'export const one = 1\n' },
      rule: 'layer',
    },
    {
      title: 'a strategy that imports a package',
      files: { 'strategies/grid.ts': "import { z } from 'zod'\n" },
      rule: 'strategy-import',
    },
    {
      title: 'a module that imports the strategy contract by its short name',
      files: { 'src/daemon/run.ts': "import { defineStrategy } from 'intentd/strategy'\n" },
      rule: 'strategy-import',
    },
    {
      title: 'a folder that imports one above it',
      files: {
        'src/engine/book/book.ts': "\nimport { A } from '../state/core.ts'\nexport type B = A\n",
      },
      rule: 'folder-order',
      line: 2,
    },
    {
      title: 'a type that comes from a folder above',
      files: {
        'src/engine/state/core.ts':
          "import type { A } from '../lifecycle/kill.ts'\nexport type B = A\n",
      },
      rule: 'folder-order',
    },
    {
      title: 'a folder that imports the file on top of it',
      files: {
        'src/engine/orders/send.ts': "import type { A } from '../engine.ts'\nexport type B = A\n",
      },
      rule: 'folder-order',
    },
    {
      title: 'a file of types only that imports a folder',
      files: {
        'src/engine/event.ts': "import type { A } from './book/book.ts'\nexport type B = A\n",
      },
      rule: 'folder-order',
    },
    {
      title: 'a folder that imports a file of its module that is not in the order',
      files: {
        'src/cli/call/call.ts': "import { main } from '../main.ts'\nexport const a = main\n",
      },
      rule: 'folder-order',
    },
    {
      title: 'a new folder of a module whose folders have an order',
      files: { 'src/engine/extras/one.ts': 'export const a = 1\n' },
      rule: 'folder-order',
    },
    {
      title: 'a command that imports another command',
      files: {
        'src/cli/main.ts': "const kill = await import('./kill/kill.ts')\n",
        'src/cli/kill/kill.ts': 'export function addKillCommand() {}\n',
        'src/cli/kill/kill-all.ts': "import { addKillCommand } from './kill.ts'\n",
      },
      rule: 'verb-import',
    },
    {
      title: 'a command that imports what belongs to another command',
      files: {
        'src/cli/parity/one.ts': 'export const one = 1\n',
        'src/cli/sweep.ts': "\nimport { one } from './parity/one.ts'\n",
      },
      rule: 'verb-import',
      line: 2,
    },
    {
      title: 'commands that need more of the daemon than they did',
      files: {
        'src/cli/one.ts': Array.from(
          { length: 31 },
          (_, index) => `import { a${index} } from '../daemon/a${index}.ts'\n`,
        ).join(''),
      },
      rule: 'daemon-imports',
      line: 31,
    },
    {
      title: 'folders that import each other through a third one',
      files: {
        'src/recording/a/one.ts': "import type { A } from '../b/one.ts'\nexport type B = A\n",
        'src/recording/b/one.ts': "import type { A } from '../c/one.ts'\nexport type B = A\n",
        'src/recording/c/two.ts': "\nimport type { A } from '../a/two.ts'\nexport type B = A\n",
      },
      rule: 'folder-cycle',
      line: 2,
    },
    {
      title: 'a folder and a shared file of its module that import each other',
      files: {
        'src/recording/journal.ts': "import type { A } from './a/one.ts'\nexport type B = A\n",
        'src/recording/a/two.ts': "import type { A } from '../journal.ts'\nexport type B = A\n",
      },
      rule: 'folder-cycle',
    },
    {
      title: 'state that is changed outside its folders',
      files: { 'src/engine/orders/send.ts': '\nmutable(core.clock).isOpen = true\n' },
      rule: 'state-owner',
      line: 2,
    },
    {
      title: 'state that another module changes',
      files: { 'src/daemon/run.ts': 'mutable(engine.book).orders.clear()\n' },
      rule: 'state-owner',
    },
    {
      title: 'a piece of state that two files change',
      files: {
        'src/engine/state/clock-state.ts': 'mutable(core.clock).isOpen = true\n',
        'src/engine/state/halt.ts': '\nmutable(core.clock.samples).clear()\n',
      },
      rule: 'state-owner',
      line: 2,
    },
    {
      title: 'a property of the core that two files set',
      files: {
        'src/engine/state/halt.ts': 'mutable(core).mode = 1\n',
        'src/engine/state/clock-state.ts': 'mutable(core).now = 1\nmutable(core).mode = 2\n',
      },
      rule: 'state-owner',
      line: 2,
    },
    {
      title: 'a piece of state behind another name',
      files: {
        'src/engine/state/clock-state.ts':
          'const alias = core.market\nmutable(alias).snapshots = 7\n',
      },
      rule: 'state-owner',
      line: 2,
    },
    {
      title: 'another piece than the one that the file owns',
      files: {
        'src/engine/lifecycle/kill.ts':
          "for (const one of core.instruments.values()) mutable(one).phase = 'idle'\n",
      },
      rule: 'state-owner',
      line: 1,
    },
    {
      title: 'a part of a parameter that two files change',
      files: {
        'src/engine/state/denials.ts':
          'const f = (a: InstrumentState) => mutable(a.denials).clear()\n',
        'src/engine/state/halt.ts':
          'const f = (b: InstrumentState) => mutable(b.denials).clear()\n',
        'src/engine/state/instrument-state.ts':
          'const f = (c: InstrumentState) => mutable(c).phase\n',
      },
      rule: 'state-owner',
    },
    {
      title: 'a piece of state that two files take as a parameter and change',
      files: {
        'src/engine/state/clock-state.ts':
          'function open(clock: ClockState) {\n  mutable(clock).isOpen = true\n}\n',
        'src/engine/state/halt.ts':
          'function halt(at: number, clock: ClockState) {\n  mutable(clock).at = at\n}\n',
      },
      rule: 'state-owner',
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
      title: 'a pure module that opens a file',
      files: { 'src/domain/order.ts': "import { readFileSync } from 'node:fs'\n" },
      rule: 'pure-import',
    },
    {
      title: 'a pure module that logs by itself',
      files: { 'src/engine/step.ts': "import pino from 'pino'\n" },
      rule: 'pure-import',
    },
    {
      title: 'a risk check that awaits',
      files: { 'src/risk/checks.ts': 'export async function approve() {}\n' },
      rule: 'synchronous',
    },
    {
      title: 'a file that is too long',
      files: { 'src/daemon/run.ts': 'export const x = 1\n'.repeat(601) },
      rule: 'file-length',
    },
    ...[
      ['function', 'export function run(at: { ms: number }): Promise<{ a: 1 }> {'],
      ['arrow', 'export const run = (): void => {'],
      ['method', 'export class Run {\n  async #run<T>(a: T, b = () => 1): Promise<void> {'],
    ].map(([kind, head]) => ({
      title: `a ${kind} that is too long`,
      files: {
        'src/daemon/run.ts': `${head}\n${'  x()\n'.repeat(69)}}\n${kind === 'method' ? '}\n' : ''}`,
      },
      rule: 'function-length',
    })),
    {
      title: 'an import of types alone that reads its file',
      files: {
        'src/daemon/run.ts':
          "import { x } from './x.ts'\nimport {\n  type A,\n  type B,\n} from './y.ts'\n",
      },
      rule: 'type-import',
      line: 2,
    },
    {
      title: 'a type name that stands in two files',
      files: {
        'src/domain/order.ts': 'export interface Order {\n  readonly lots: number\n}\n',
        'src/views/order-row.ts': '\ntype Order = string\n',
      },
      rule: 'type-name',
      line: 2,
    },
    {
      title: 'a name in camelCase',
      files: { 'src/daemon/runLoop.ts': 'export const x = 1\n' },
      rule: 'file-name',
    },
    { title: 'a folder called utils', files: { 'src/lib/utils/grid.ts': '' }, rule: 'file-name' },
    { title: 'a file called types', files: { 'src/domain/types.ts': '' }, rule: 'file-name' },
    {
      title: 'a barrel',
      files: {
        'src/domain/nouns.ts': "import { a } from './a.ts'\nexport { a }\nexport * from './b.ts'\n",
      },
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
    {
      title: 'an approval by somebody else than risk',
      files: { 'src/execution/plan.ts': 'export const x = intent as Approved<OrderIntent>\n' },
      rule: 'proof',
    },
    {
      title: 'a recorded batch that nobody recorded',
      files: { 'src/daemon/sender.ts': 'export const x = batch as Recorded<OutgoingBatch>\n' },
      rule: 'proof',
    },
    {
      title: 'a schema of any',
      files: { 'src/daemon/run.ts': 'export const x = z.any()\n' },
      rule: 'any',
    },
    {
      title: 'a reminder',
      files: { 'src/daemon/run.ts': `export const x = 1 // ${'TO'}DO later\n` },
      rule: 'reminder',
    },
  ]

  test.each(planted)('$rule: $title', ({ files, rule, line }) => {
    const violations = checkSourceTree(new Map(Object.entries(files))).filter(
      (violation) => violation.rule === rule,
    )

    expect(violations).toHaveLength(1)
    if (line !== undefined) expect(violations[0]?.line).toBe(line)
  })

  test.each([
    ['', 'home', 'ada', 'intentd'].join('/'),
    ['', 'Users', 'ada', 'intentd'].join('/'),
    ['', 'work', 'intentd'].join('/'),
    ['C:', 'Users', 'ada'].join('\\'),
    ['https://registry', 'example', 'org'].join('.'),
    `"resolved": "${'https'}://example.org/a.tgz"`,
  ])('trace: %s', (trace) => {
    const violations = checkTraces(new Map([['README.md', `first\nsee ${trace} there\n`]]))

    expect(violations).toMatchObject([{ rule: 'trace', line: 2 }])
  })
  test.each([
    ['a word in a comment', 'src/daemon/run.ts', '// why\n// beyond the horizon\n'],
    ['a word in a string', 'src/cli/run/run.ts', "\nexport const a = 'the risk desk said no'\n"],
    ['a part of an identifier', 'src/risk/checks.ts', '\nexport const acceptHorizonMs = 1\n'],
    ['a part of a constant', 'src/daemon/run.ts', '\nexport const LETTERS_MAX = 1\n'],
    ['a word of a template', 'src/daemon/run.ts', '\nexport const a = `${b} lanes`\n'],
    ['a noun as an identifier', 'src/daemon/run.ts', '\nexport const lives = 1\n'],
    ['an identifier', 'src/cli/run/run.ts', '\nexport const told = 1\n'],
    ['the name of an event', 'src/daemon/run.ts', "\nlog('clock.doubted')\n"],
    ['settings', 'config/paper.yaml', 'a: 1\nonRestart: adopt # fence is safer\n'],
    ['a planted error', 'test/worlds/mutants.ts', "\nname: 'halt-unseen-at-the-door'\n"],
    ['a function that says', 'src/cli/kill/kill.ts', "\ntell('killed')\n"],
    ['a recording', 'src/recording/segment.ts', '\nconst life = 1\n'],
    ['the simulator', 'src/simulator/spot.ts', '\nexport const spotDesk = 1\n'],
    ['a strategy', 'strategies/grid.ts', '\n// the house holds it\n'],
  ])('old-word: %s', (_title, path, text) => {
    expect(checkWords(new Map([[path, text]]))).toMatchObject([{ rule: 'old-word', line: 2 }])
  })

  test.each(['/** Of the last run. */', '  // By symbol.', ' * What is left goes.'])(
    'comment-opening: %s',
    (comment) => {
      const texts = new Map([['src/risk/a.ts', `\n${comment}\n`]])
      expect(checkCommentOpenings(texts)).toMatchObject([{ rule: 'comment-opening', line: 2 }])
    },
  )

  test('old-word: the name of a file', () => {
    expect(checkWords(new Map([['src/daemon/mailbox.ts', '']]))).toHaveLength(1)
  })
})

describe('what is no violation is left alone', () => {
  test.each([
    [
      'calls named in comments, strings, templates and patterns',
      "// Date.now()\nexport const a = ['Date.now()', `Math.random`, /process.exit/]\n",
    ],
    ['an instant given to Date', 'export const at = new Date(atMs)\n'],
    [
      'a method called fetch, a race called any',
      'export const a = client.fetch(b) + AbortSignal.any(c)\n',
    ],
    [
      'a division and a pattern in one line',
      'export const a = b / c / d + e.split(/[\'"`]/).length / 2\n',
    ],
    [
      'a table of many short functions',
      `export const a = {\n${'  f: () => {\n    g()\n  },\n'.repeat(40)}}\n`,
    ],
    [
      'a long interface of methods',
      `export interface A {\n${'  f(a: { b: 1 }): void\n'.repeat(90)}}\n`,
    ],
    [
      'an import of a lower layer',
      "import { Order } from '../domain/order.ts'\nexport const a: Order = 1\n",
    ],
  ])('%s', (_title, source) => {
    expect(checkSourceTree(new Map([['src/daemon/run.ts', source]]))).toEqual([])
  })

  test('the owner of a call may use it', () => {
    expect(
      checkSourceTree(new Map([['src/lib/clock.ts', 'export const now = () => Date.now()\n']])),
    ).toEqual([])
  })

  test('the engine may know the exchange by its types', () => {
    const one = "import type { Reply } from '../exchange/reply.ts'\nexport type A = Reply\n"
    const two =
      "import type { Reply, Call } from '../exchange/reply.ts'\nexport type A = Reply | Call\n"

    expect(rulesOf('src/engine/step.ts', one)).toEqual([])
    expect(rulesOf('src/engine/step.ts', two)).toEqual([])
  })

  test('a file on top of its module may import everything in it, and none but lower folders are imported', () => {
    const sources = {
      'src/engine/engine.ts': "import './replay/core-image.ts'\nimport './event.ts'\n",
      'src/engine/replay/core-image.ts': "import '../book/book.ts'\nimport '../effect.ts'\n",
      'src/engine/effect.ts': "import './event.ts'\n",
      'src/engine/event.ts': '',
      'src/engine/book/book.ts': '',
    }

    expect(checkSourceTree(new Map(Object.entries(sources)))).toEqual([])
  })

  test('a file of the module that no folder imports is in no cycle of folders', () => {
    const sources = {
      'src/recording/journal.ts': "import './a/one.ts'\n",
      'src/recording/layout.ts': '',
      'src/recording/a/one.ts': "import '../layout.ts'\nimport '../b/one.ts'\n",
      'src/recording/b/one.ts': "import '../layout.ts'\n",
    }

    expect(checkSourceTree(new Map(Object.entries(sources)))).toEqual([])
  })

  test('the owner of a state may change it, and the files of the book change it together', () => {
    const sources = {
      'src/lib/mutable.ts': 'export function mutable<State>(state: State): Mutable<State> {}\n',
      'src/engine/state/clock-state.ts': 'mutable(core.clock).a = 1\nmutable(core.clock).b = 1\n',
      'src/engine/book/apply-fill.ts': 'const a = (book: Book) => mutable(book).a\n',
      'src/engine/book/apply-record.ts': 'const a = (book: Book) => mutable(book).b\n',
    }

    expect(checkSourceTree(new Map(Object.entries(sources)))).toEqual([])
  })

  test.each([
    ['a verb', 'src/daemon/run.ts', '// it lives inside, and is told so\n'],
    [
      'a word that holds another',
      'src/daemon/run.ts',
      '// a mistake: planes, defence, extend, volatile\n',
    ],
    ['letters of an alphabet', 'src/cli/call/call.ts', "const a = 'small letters'\n"],
    ['somebody who holds a lock', 'src/lib/process-lock.ts', 'const holder = 1\n'],
    ['a burst of calls', 'src/simulator/wire/checks/rate-limits.ts', '// a burst of 20\n'],
  ])('words: %s', (_title, path, text) => {
    expect(checkWords(new Map([[path, text]]))).toEqual([])
  })

  test('a tree without files is tidy', () => {
    expect(checkSourceTree(new Map())).toEqual([])
  })
})

describe('the tests are in two shares', () => {
  const { short, long } = listShares()

  test('each file is in one of them', () => {
    const tests = listSources('test').filter((path) => path.endsWith('.test.ts'))

    expect([...short, ...long].toSorted()).toEqual(tests.toSorted())
  })

  test('what starts programs is in the long one, but for a sample of each kind', () => {
    expect(short.filter(startsPrograms)).toEqual(Object.keys(SAMPLES).toSorted())
  })

  test.each([
    ['by itself', 'test/lib/process-lock.test.ts', true],
    ['through what it imports', 'test/cli/explain.test.ts', true],
    ['in a browser', 'test/dashboard/dashboard.test.ts', true],
    ['as an exchange', 'test/daemon/accounts.test.ts', true],
    ['as the sample of its kind', 'test/daemon/run.test.ts', false],
    ['nothing, and has its name', 'test/worlds/worlds.long.test.ts', true],
    ['nothing', 'test/worlds/worlds.test.ts', false],
  ])('a file that starts programs: %s', (_title, path, expected) => {
    expect(isLong(path)).toBe(expected)
  })
})

test('a source is read through nested templates, escapes and comments', () => {
  const source =
    'const a = `x ${`y ${b /* c */} "`} z` // d\nimport "./e.ts"\nconst f = "\\"" + g\n'

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
  return checkSourceTree(new Map([[path, source]])).map(({ rule }: Violation) => rule)
}

function listSources(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:ts|mjs)$/.test(path))
}

/** Tracked files and new ones; in an unpacked archive, where git knows nothing, the sources. */
function listKept(): string[] {
  if (!existsSync(join(ROOT, '.git')))
    return ['src', 'strategies', 'bin', 'test'].flatMap(listSources)
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
    },
  )
  return listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && !path.endsWith('.gz'))
}

function readFiles(paths: readonly string[]): Map<string, string> {
  const present = paths.filter((path) => existsSync(join(ROOT, path)))
  return new Map(present.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}
