import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PlayMarks } from '../../src/backtest/playing/thread-protocol.ts'
import { checkBias, compareDecisions, firstDifference } from '../../src/cli/check-bias/run-check.ts'
import { main } from '../../src/cli/main.ts'
import { formatFeedFile } from '../../src/backtest/feed-file.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { BacktestProject } from '../backtest/backtest-project.ts'

const START_AT = Date.UTC(2025, 0, 1)
const MINUTE_MS = 60_000

let project: BacktestProject
let printed: string

beforeEach(() => {
  project = new BacktestProject(['BTCUSDT'], [])
  project.edit('main.yaml', 'pollMs: 5000', 'pollMs: 60000')
  const rows = Array.from({ length: 12 * 60 }, (_, minute) => {
    const price = (100_000 + 300 * Math.sin(minute / 40)).toFixed(1)
    return [START_AT + minute * MINUTE_MS, price, price, price, price, 50].join(',')
  })
  project.write('BTCUSDT.csv', `ts_ms,open,high,low,close,volume\n${rows.join('\n')}\n`)
  printed = ''
})
afterEach(() => {
  vi.restoreAllMocks()
  project.remove()
})

/** A strategy whose target is what `wish` says, in lots; `head` stands above it. */
function writeStrategy(head: string, wish: string): void {
  project.write(
    'scripted.ts',
    `import { readFileSync } from 'node:fs'
import { defineStrategy, z } from 'intentd/strategy'
${head}
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({ count: 0 }),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    if (!market) return { intents: [], state }
    const now = Math.floor(snapshot.exchangeTime / 60_000)
    ${wish}
    return { intents: [market.target(lots)], state: { count: state.count + 1 } }
  },
})
`,
  )
}

/** In this thread, which is quicker than the command's own. */
async function check(feed: readonly string[] = []): Promise<boolean> {
  const options = {
    set: [],
    param: [],
    market: [join(project.directory, 'BTCUSDT.csv')],
    feed,
    cuts: 3,
  }
  const { isBiased, lines } = await checkBias(
    { config: join(project.directory, 'main.yaml'), options, version: 'test' },
    { marks: new PlayMarks(), isTTY: false, post: () => undefined },
  )
  printed = lines.join('\n')
  return isBiased
}

describe('intentd check-bias', () => {
  test('[STR2] a strategy that looks at its snapshot alone does the same without the future', async () => {
    writeStrategy('', 'const lots = market.last > 100_000 ? 10 : 0')

    expect(await check()).toBe(false)
    expect(printed.match(/: the same effects to the byte/g)).toHaveLength(3)
    expect(printed).toContain('no effect changed')
    expect(printed).toMatch(
      /scripted: all \d{3} the same: nothing hangs on where the history began/,
    )
  })

  test('what hangs on where the history began is said, and is no error', async () => {
    writeStrategy('', 'const lots = state.count < 8 * 60 ? 0 : 10')

    expect(await check()).toBe(false)
    expect(printed).toMatch(/scripted: \d+ of \d+ the same; the first other one at 2025-01-01 08:0/)
  })

  test('a strategy that remembers an earlier run of the process is caught, with time and name', async () => {
    writeStrategy(
      'const seen = new Map()',
      `seen.set(now, market.last)
    const lots = (seen.get(now + 60) ?? market.last) > market.last ? 10 : 0`,
    )

    expect(await check()).toBe(true)
    expect(printed).toMatch(
      /other effects, from 2025-01-01T00:0\d:\d\d\.\d+Z on, of strategy scripted/,
    )
    expect(printed).toContain('biased: what was done hangs on prices that were not there yet')
  })

  test('a strategy that reads the prices from their file is caught', async () => {
    const file = join(project.directory, 'BTCUSDT.csv')
    writeStrategy(
      `const prices = readFileSync(${JSON.stringify(file)}, 'utf8').split('\\n').slice(1).map((line) => Number(line.split(',')[1]))`,
      `const minute = now - ${START_AT / MINUTE_MS}
    const lots = prices[minute + 60] > prices[minute] ? 10 : 0`,
    )

    expect(await check()).toBe(true)
    expect(printed).toMatch(
      /biased: a strategy reads the prices of the future from their file: .*BTCUSDT\.csv/,
    )
  })
  test.each([
    ['ts', (text: string) => `export default ${text}`, "import future from './future.ts'"],
    ['json', (text: string) => text, "import future from './future.json' with { type: 'json' }"],
    [
      'json',
      (text: string) => text,
      "import { createRequire } from 'node:module'\nconst future = createRequire(import.meta.url)('./future.json')",
    ],
    [
      'ts',
      (text: string) => text,
      "const future = JSON.parse(readFileSync(new URL('./future.ts', import.meta.url), 'utf8'))",
    ],
  ])(
    'prices that come as a module, future.%s, are named for a person to look at',
    async (ending, toText, head) => {
      const prices = Array.from(
        { length: 12 * 60 },
        (_, minute) => 100_000 + 300 * Math.sin(minute / 40),
      )
      project.write(`future.${ending}`, toText(JSON.stringify(prices)))
      writeStrategy(
        head,
        `const minute = now - ${START_AT / MINUTE_MS}
    const lots = future[minute + 60] > future[minute] ? 10 : 0`,
      )

      expect(await check()).toBe(false)
      expect(printed).toMatch(
        new RegExp(
          `note: a strategy (?:imports|reads) a file; look .*: \\S+ \\S*future\\.${ending}`,
        ),
      )
      expect(printed.match(/note:/g)).toHaveLength(1)
    },
  )

  test('a strategy that reads a copy of the prices is caught', async () => {
    const text = readFileSync(join(project.directory, 'BTCUSDT.csv'), 'utf8')
    const copy = project.write('copy.txt', text)
    writeStrategy(
      `const length = readFileSync(${JSON.stringify(copy)}, 'utf8').length`,
      'const lots = length > 5 ? 10 : 0',
    )

    expect(await check()).toBe(true)
    expect(printed).toMatch(/biased: a strategy reads the prices .*copy\.txt/)
  })

  test('a strategy that looks at its snapshot alone has nothing to be looked at', async () => {
    writeStrategy('', 'const lots = 0')

    expect(await check()).toBe(false)
    expect(printed).not.toMatch(/note:|biased:/)
  })
})

describe('a feed that is played', () => {
  const FEED = 'longShortRatio?symbol=BTCUSDT'
  let file: string

  beforeEach(() => {
    project.edit(
      'scripted.yaml',
      'risk:',
      'feeds: { ratio: { endpoint: longShortRatio, params: { symbol: BTCUSDT }, everyMs: 60000 } }\nrisk:',
    )
    const readings = Array.from({ length: 12 * 4 }, (_, index) => ({
      readAt: START_AT + index * 15 * MINUTE_MS,
      data: { ratio: index % 3 },
    }))
    file = project.write('ratio.jsonl', formatFeedFile(FEED, readings))
  })

  test('[STR2] is cut off with the prices, and does no harm', async () => {
    writeStrategy('', "const lots = snapshot.feed('ratio')?.data.ratio === 1 ? 10 : 0")

    expect(await check([`ratio=${file}`])).toBe(false)
    expect(printed.match(/: the same effects to the byte/g)).toHaveLength(3)
    expect(printed).toMatch(/scripted: all \d{3} the same/)
  })

  test('is a file of the future for a strategy that reads it by itself', async () => {
    writeStrategy(
      `const lines = readFileSync(${JSON.stringify(join(project.directory, 'ratio.jsonl'))}, 'utf8').split('\\n')`,
      'const lots = lines.length > 5 ? 10 : 0',
    )

    expect(await check([`scripted.ratio=${file}`])).toBe(true)
    expect(printed).toMatch(
      /biased: a strategy reads the prices of the future from their file: .*ratio\.jsonl/,
    )
  })
})

describe('the command', () => {
  let errors: string

  beforeEach(() => {
    errors = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      errors += String(text)
      return true
    })
  })

  beforeEach(() => project.edit('scripted.yaml', '\nmodule', '\nisolation: inline\nmodule'))

  function run(hungAfter: string): Promise<number> {
    const [config, prices] = ['main.yaml', 'BTCUSDT.csv'].map((name) =>
      join(project.directory, name),
    )
    return main([
      'check-bias',
      String(config),
      '--market',
      String(prices),
      '--hung-after',
      hungAfter,
    ])
  }

  test('a decision that never comes back ends it, with the name of the strategy', async () => {
    writeStrategy(
      '',
      `for (; snapshot.exchangeTime >= ${START_AT + 60 * MINUTE_MS}; );\n    const lots = 0`,
    )

    expect(await run('1s')).toBe(78)
    expect(errors).toMatch(/STRATEGY_HANGS[^]*strategy +scripted\n +at +2025-01-01T01:00:0/)
  })

  test('Ctrl-C ends it', async () => {
    writeStrategy('', `for (; snapshot.exchangeTime >= ${START_AT}; );\n    const lots = 0`)
    systemTimers.after(100, () => process.emit('SIGINT', 'SIGINT'))

    expect(await run('1m')).toBe(75)
    expect(errors).toMatch(/BACKTEST_STOPPED[^]*by +SIGINT/)
  })
})

describe('two runs held against each other', () => {
  const step = (at: number, digest: number) => ({ at, digest, strategyId: 'a' })

  test.each([
    ['the same', [step(1, 1), step(2, 2)], [step(1, 1), step(2, 2), step(9, 9)], undefined],
    ['another effect', [step(1, 1), step(2, 2)], [step(1, 1), step(2, 3)], 2],
    ['one more', [step(1, 1), step(2, 2)], [step(1, 1), step(2, 2), step(3, 3)], 3],
    ['one less', [step(1, 1), step(2, 2)], [step(1, 1)], 2],
    ['one later', [step(1, 1), step(2, 2)], [step(1, 1), step(3, 2)], 2],
  ])('%s', (_, one, other, at) => {
    expect(firstDifference(one, other, 5)?.at).toBe(at)
  })

  test('decisions are matched by strategy and moment', () => {
    const decision = (at: number, digest: number, strategyId = 'a') => ({ at, digest, strategyId })
    const one = [
      decision(5, 1),
      decision(11, 1),
      decision(21, 2),
      decision(31, 3),
      decision(31, 9, 'b'),
    ]
    const other = [
      decision(6, 7),
      decision(12, 1),
      decision(22, 5),
      decision(32, 3),
      decision(42, 4),
    ]

    expect([...compareDecisions(one, other, { fromAt: 10, gridMs: 10 })]).toEqual([
      ['a', { compared: 3, same: 2, firstAt: 22, lastAt: 22 }],
    ])
  })
})
