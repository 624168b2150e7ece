import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { decidesUntil, stopDecisions } from '../../src/cli/parity/run-parity.ts'
import { compareFills, compareWishes } from '../../src/cli/parity/describe-parity.ts'
import { firstOther, firstShownOther, unmatched } from '../../src/cli/parity/differences.ts'
import { type BacktestRunOptions } from '../../src/backtest/backtest-run.ts'
import { describeRecording, viewOf } from '../../src/backtest/played-prices.ts'
import { asRecorded, standStill } from '../../src/cli/parity/recorded-report.ts'
import { RunTrace, type Wish } from '../../src/cli/parity/run-trace.ts'
import { type Fill } from '../../src/domain/fill.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type QuoteRows } from '../../src/prices/recording.ts'
import { type PriceCoverage } from '../../src/report/run-facts.ts'
import { type RunSummary } from '../../src/views/summary.ts'
import { describeMadeUp } from '../../src/report/text/figures.ts'
import { readReport } from '../../src/report/read-report.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

async function checkParity(project: Project, ...args: readonly string[]) {
  const compared = project.start(['parity', findRecordings(project), ...args])
  const { code } = await compared.ended
  return { code, text: compared.stdout.join('\n'), errors: compared.stderr.join('\n') }
}

function findRecordings(project: Project): string {
  const environments = join(project.directory, '.intentd')
  const paths = readdirSync(environments, { recursive: true, encoding: 'utf8' })
  return join(environments, paths.find((path) => path.endsWith('recordings')) ?? '')
}

test('a recorded run is set beside a backtest of its prices, and a changed strategy is found', async () => {
  const project = projects.open()
  // Prices that move oftener than a poll in real time would show, in a configuration that is not the folder's paper.yaml.
  project.write('config/other.yaml', project.read('config/paper.yaml'))
  const given = ['record=true', 'simulator.speed=60', 'risk.openOrdersMax=90']
  const options = ['-c', 'config/other.yaml', ...given.flatMap((text) => ['--set', text])]
  const run = project.run(options)
  await run.until('both ladders', () => run.events('batch.sent').length > 1)
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await run.stop()
  // A backtest stops where the first run did.
  const next = project.run(options)
  await next.until('another file', () => next.events('recording.started').length > 0)
  await next.stop()
  const parity = (...args: readonly string[]) => checkParity(project, ...args)

  // The folder's own configuration would do here too: the recorded one is taken.
  project.edit('config/paper.yaml', 'speed: 60', 'speed: nonsense')
  const same = await parity('--out', 'parity')
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
  const changed = await parity('--set', 'risk.priceCollarRatio=0.04')
  project.edit('config/strategies/grid-btc.yaml', '\nmodule:', '\nenabled: false\nmodule:')
  const other = await parity()

  expect(same.errors).toBe('')
  const reports = ['recorded', 'backtest'].map((place) =>
    readReport(join(project.directory, 'parity', place)),
  )
  // Prices of a seed are marked as such, also where they were recorded.
  expect(reports.map(({ coverage }) => describeMadeUp(coverage)[0])).toEqual([
    expect.stringMatching(/^Made-up prices/),
    expect.stringMatching(/^Made-up prices/),
  ])
  const [recorded, played] = reports.map(({ runs }) => runs[0])
  const fillsOf = (count: string) =>
    Number(new RegExp(`^fills: .*?(\\d+) ${count}`, 'm').exec(same.text)?.[1])
  expect([recorded?.fills.count, played?.fills.count]).toEqual([
    fillsOf('recorded'),
    fillsOf('in the b'),
  ])
  expect([recorded?.restrictions, played?.restrictions]).toEqual([[], []])
  expect(same.text).not.toMatch(/restricted|configuration changed/)
  expect(recorded?.series.startAt).toBe(played?.series.startAt)
  const { opening, realised, unrealised, fees, funding, final } = recorded?.money ?? {}
  expect(
    Number(opening) + Number(realised) + Number(unrealised) - Number(fees) + Number(funding),
  ).toBeCloseTo(Number(final), 8)
  for (const id of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    expect(same.text).toMatch(
      new RegExp(`^${id}: ([1-9]\\d*) changes of what it wants recorded, \\d+ in the b`, 'm'),
    )
  expect(same.text).toMatch(/^trend-btc: .* all the same$/m)
  const isDifferent =
    /the same, then$|^fills: .*; the first \d+ are the same\n(?! {2}the rest)/m.test(same.text)
  expect(same.code).toBe(isDifferent ? 1 : 0)
  expect(recorded?.ratios.find(({ name }) => name === 'highest margin ratio')?.value).toBeNull()
  const made = run.events('run.summary').at(-1)?.['allRuns'] as RunSummary['allRuns'] | undefined
  expect(Number(unrealised)).toBeCloseTo(Number(made?.unrealisedProfit), 2)
  expect(same.text).not.toContain('other settings')
  expect(same.text).toMatch(
    /^note: as in the recorded run: .*--set record=true --set simulator\.speed=60 --set risk\.openOrdersMax=90/m,
  )
  const [, second] = readdirSync(findRecordings(project)).toSorted()
  expect(same.text).toContain(
    `note: ${second} begins another run, after a stop: only the files before it are compared (1 of 2)`,
  )
  expect(changed.text).toMatch(/^note: other settings than the recorded run had: limits$/m)
  expect(changed.code).toBe(1)
  expect(changed.text).toMatch(
    /^grid-btc: .*; the first 0 are the same, then\n {2}recorded .*\n(?: {4}.*\n)+ {2}backtest .*\n(?: {4}.*\n)+ {2}why: it was shown the same/m,
  )
  expect(other.code).toBe(78)
  expect(other.errors).toMatch(/PARITY_CONFIG_OTHER[^]*recorded +grid-btc \(BTCUSDT\)[^]*-c FILE/)
})

test('a run that was restricted is no proof, and one that was reloaded is compared up to there', async () => {
  const project = projects.open()
  const command = async (...args: readonly string[]) => {
    const started = project.start(args)
    expect((await started.ended).code).toBe(0)
  }
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=60'])
  await run.until('both ladders', () => run.events('batch.sent').length > 1)
  await command('restrict', '*', 'halted', '--reason', 'a look')
  await command('restrict', 'strategy:trend-eth', 'reducing', '--reason', 'seen enough')
  await command('release', '*', '--reason', 'looked')
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
  await command('reload')
  await run.until('the new configuration', () => run.events('recording.started').length > 1)
  await run.stop()
  project.edit('config/strategies/grid-btc.yaml', 'levels: 4', 'levels: 8')
  const { code, text, errors } = await checkParity(project, '--out', 'parity')

  expect(errors).toBe('')
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  expect(text).toMatch(
    new RegExp(
      [
        `^recorded run restricted: \\* halted \\(operator\\) from ${time} to ${time}`,
        `recorded run restricted: strategy:trend-eth reducing \\(operator\\) from ${time} to its end`,
        'note: the two were restricted at different times, so this is no proof: .*',
      ].join('\n'),
    ),
  )
  expect(code).toBe(1)
  const [, second] = readdirSync(findRecordings(project)).toSorted()
  expect(text).toContain(
    `note: the configuration changed with ${second}, and the backtest needs the one of before (-c FILE): only the files before it are compared (1 of 2)`,
  )
  const [recorded, played] = ['recorded', 'backtest'].map(
    (place) => readReport(join(project.directory, 'parity', place)).runs[0],
  )
  expect(recorded?.restrictions).toEqual([
    expect.stringMatching(
      /^trading of trend-eth ended \d.*, reducing \(operator\): seen enough; \d+ /,
    ),
  ])
  expect(played?.restrictions).toEqual([])
})

test('a price is as old in the backtest as it was when it was recorded', () => {
  const at = Float64Array.from([1000, 1100, 1200])
  const columns = Object.fromEntries(
    ['bid', 'ask', 'bidSize', 'askSize', 'last'].map((name) => [name, at]),
  )
  const rows = { kind: 'quotes', at, ...columns } as unknown as QuoteRows
  const coverage = [describeRecording({ symbol: 'BTCUSDT', source: 'recorded', sha256: '', rows })]

  // Of prices that come from a file nobody knows a newer one until the next row.
  expect(viewOf(coverage).currentAt('BTCUSDT', 1100, 1190)).toBe(1190)
  const recorded = viewOf(asRecorded(coverage, new Map()))
  expect(recorded.currentAt('BTCUSDT', 1100, 1190)).toBe(1100)
  expect(recorded.isListed('BTCUSDT', 1250)).toBe(true)
})

test('the price that stood when the run begins is as old as it was', () => {
  const columns = new Map([
    ['at', Float64Array.of(400, 1500)],
    ['bid', Float64Array.of(5, 6)],
  ] as const)
  const table = { kind: 'quotes', source: 'made', columns, whereOf: String } as const
  const [begun] = standStill([table], { fromAt: 1000, toAt: 2000 })
  const coverage = [
    { symbol: 'BTCUSDT', fromAt: 1000, toAt: 2000 },
  ] as unknown as readonly PriceCoverage[]
  const view = viewOf(asRecorded(coverage, new Map([['BTCUSDT', [table]]])))

  expect([...(begun?.columns.get('at') ?? [])]).toEqual([1000])
  expect(view.currentAt('BTCUSDT', 1000, 1200)).toBe(400)
  expect(view.currentAt('BTCUSDT', 1500, 1600)).toBe(1500)
})

test('a trace has each change of a wish once, and each fill that came after its beginning', () => {
  const trace = new RunTrace({ instruments: new Map(), strategies: new Map() }, { fromAt: 100 })
  const decided = (intents: readonly object[]) =>
    ({
      kind: 'decided',
      strategyId: 'a',
      sequence: 1,
      intents,
      state: null,
      denials: [],
    }) as unknown as EngineEvent
  const fillsRead = (fills: readonly object[]) =>
    ({ kind: 'fillsRead', reading: { fills } }) as unknown as EngineEvent
  const fill = (tradeId: string, filledAt: number) => ({ tradeId, filledAt })

  trace.take(101, decided([{ lots: 1 }]))
  trace.take(102, decided([{ lots: 1 }]))
  trace.take(103, decided([]))
  trace.take(104, fillsRead([fill('old', 99), fill('one', 100)]))
  trace.take(105, fillsRead([fill('one', 100), fill('two', 104)]))

  expect(trace.wishes.get('a')?.map(({ at }) => at)).toEqual([101, 103])
  expect(trace.fills.map(({ tradeId }) => tradeId)).toEqual(['one', 'two'])
})

test('what a backtest wants after the stop is no part of it, and nobody is asked', () => {
  const asked: number[] = []
  const strategy = {
    decide: ({ exchangeTime }: { readonly exchangeTime: number }) => {
      asked.push(exchangeTime)
      return { intents: [{ kind: 'target' }], state: exchangeTime }
    },
  }
  const run = { backtest: { strategies: new Map([['a', { strategy, params: {} }]]) } }
  const [[, quiet] = []] = [
    ...stopDecisions(run as unknown as BacktestRunOptions, 200).backtest.strategies,
  ]
  const decide = (exchangeTime: number) =>
    quiet?.strategy.decide({ exchangeTime } as never, { state: 'kept' } as never)
  const trace = new RunTrace(
    { instruments: new Map(), strategies: new Map() },
    { fromAt: 0, quietFrom: 200 },
  )
  const take = (at: number, intents: readonly object[]) => {
    trace.take(at, {
      kind: 'snapshotTaken',
      tickers: { requestTime: at },
    } as unknown as EngineEvent)
    trace.take(at, {
      kind: 'decided',
      strategyId: 'a',
      intents,
      state: null,
    } as unknown as EngineEvent)
  }
  take(199, [{ kind: 'target' }])
  take(200, [])

  expect([decide(199), decide(200)]).toEqual([
    { intents: [{ kind: 'target' }], state: 199 },
    { intents: [], state: 'kept' },
  ])
  expect(asked).toEqual([199])
  expect(trace.wishes.get('a')?.map(({ at }) => at)).toEqual([199])
})

test('the last prices before a stop are decided on, and a fill after it is not', () => {
  const stop = { at: 210, readBeforeAt: 150, readAfterAt: 300 }
  expect(decidesUntil(stop, 50)).toBe(210)
  // They arrive in the backtest after the recorded stop.
  expect(decidesUntil(stop, 80)).toBe(231)
  // The prices that arrived after the stop left before it.
  expect(decidesUntil({ ...stop, readAfterAt: 205 }, 50)).toBe(205)
  expect(decidesUntil({ at: 210, readBeforeAt: undefined, readAfterAt: undefined }, 50)).toBe(210)
})

test('the same fills in another order are the same; another price is not', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const instruments = new Map(
    ['BTCUSDT', 'ETHUSDT'].map((symbol) => [symbol, { symbol, tick: grid, lot: grid }]),
  )
  const frame = { instruments: instruments as never, alone: [], strategies: new Map() }
  const fill = (symbol: string, ticks: number) =>
    ({
      symbol,
      side: 'buy',
      ticks,
      lots: 1,
      scope: 'taker',
      source: 'API',
      filledAt: 0,
    }) as unknown as Fill
  const [btc, eth] = [fill('BTCUSDT', 5), fill('ETHUSDT', 7)]

  expect(compareFills([btc, eth], [eth, btc], frame)).toEqual({
    isSame: true,
    lines: ['fills: 2 recorded, 2 in the backtest, all the same, in another order'],
  })
  expect(compareFills([btc, eth], [fill('ETHUSDT', 8), btc], frame).isSame).toBe(false)
})

test('fills of the same size at other prices, and of orders that rested, differ as is normal; another size does not', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const instruments = new Map([['ETHUSDT', { tick: grid, lot: grid }]])
  const frame = { instruments: instruments as never, alone: [], strategies: new Map() }
  const fill = (ticks: number, lots: number, scope: string, source = 'API') =>
    ({ symbol: 'ETHUSDT', side: 'buy', ticks, lots, scope, source, filledAt: 0 }) as unknown as Fill
  const isNormal = (recorded: readonly Fill[], played: readonly Fill[]) =>
    compareFills(recorded, played, frame).isNormal

  expect(isNormal([fill(5, 2, 'taker')], [fill(6, 1, 'taker'), fill(6, 1, 'taker')])).toBe(true)
  expect(isNormal([fill(5, 2, 'taker'), fill(4, 1, 'maker')], [fill(6, 2, 'taker')])).toBe(true)
  expect(isNormal([fill(5, 2, 'taker')], [fill(6, 3, 'taker')])).toBe(false)
  expect(isNormal([fill(5, 2, 'taker', 'SYS')], [])).toBe(false)
  expect(isNormal([fill(4, 1, 'maker')], [fill(6, 2, 'taker')])).toBe(false)
})

test('a fill of one of the two alone is the reason of what is wanted after it, and of nothing before it', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const symbols = ['ETHUSDT']
  const instruments = new Map(
    [...symbols, 'BTCUSDT'].map((symbol) => [symbol, { tick: grid, lot: grid }]),
  )
  const fill = (symbol: string, ticks: number, filledAt: number) => ({
    symbol,
    side: 'sell',
    ticks,
    lots: 2,
    scope: 'maker',
    source: 'API',
    filledAt,
  })
  const wish = (text: string, fillsBefore: number, prices: string): Wish => ({
    at: 0,
    readAt: 0,
    intents: [],
    text,
    fillsBefore,
    shown: new Map([['prices of ETHUSDT', prices]]),
  })
  const both = fill('ETHUSDT', 50, 500)
  const recorded = [
    fill('BTCUSDT', 9, 100),
    both,
    fill('ETHUSDT', 60, 1000),
  ] as unknown as readonly Fill[]
  const played = [both] as unknown as readonly Fill[]
  const why = (was: Wish, is: Wish) =>
    compareWishes('grid', [[was], [is]], {
      instruments: instruments as never,
      symbols,
      fills: [recorded, played],
      lastReadAt: [0, 0],
      alone: [],
    }).lines.at(-1)

  expect(why(wish('a', 3, '1'), wish('b', 1, '2'))).toBe(
    '  why: an order that rested was filled in the recorded run alone until then, as is normal: 1970-01-01T00:00:01.000Z ETHUSDT sell 0.2 at 6 maker',
  )
  expect(why(wish('a', 2, '1'), wish('b', 1, '2'))).toBe(
    '  why: it was shown another moment: prices of ETHUSDT: 1 recorded, 2 in the backtest',
  )
})

test('a change that one of the two lacks is explained by an end before only where that run had ended', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const symbols = ['ETHUSDT']
  const instruments = new Map([['ETHUSDT', { symbol: 'ETHUSDT', tick: grid, lot: grid }]])
  const fill = {
    symbol: 'ETHUSDT',
    side: 'sell',
    ticks: 50,
    lots: 2,
    scope: 'maker',
    source: 'API',
  }
  const wish: Wish = {
    at: 900,
    readAt: 890,
    intents: [],
    text: 'a',
    fillsBefore: 0,
    shown: new Map(),
  }
  const why = (filledAt: number, endOfRecorded: number) =>
    compareWishes('grid', [[], [wish]], {
      instruments: instruments as never,
      symbols,
      lastReadAt: [endOfRecorded, 2e3],
      alone: [],
      fills: [
        [
          {
            ...fill,
            filledAt,
          } as unknown as Fill,
        ],
        [],
      ],
    }).lines.at(-1)

  expect(why(500, 889)).toBe('  why: the recorded run had ended before')
  expect(why(500, 2000)).toMatch(
    /^ {2}why: an order that rested was filled in the recorded run alone until/,
  )
  expect(why(901, 2000)).toBe(
    '  why: the recorded run wanted nothing else to its end; what it was shown when the backtest changed is not kept',
  )
})

test('fills that one of the two has more of are found wherever they stand', () => {
  expect(unmatched(['b', 'a', 'a', 'c'], ['a', 'b', 'd'], (text) => text)).toEqual(['a', 'c'])
})

test.each([
  [['a', 'b'], ['a', 'b'], undefined],
  [['a', 'b'], ['a', 'c'], 1],
  [['a', 'b'], ['a'], 1],
  [[], ['a'], 0],
])('%j and %j part at %s', (one, other, index) => {
  expect(firstOther(one, other, (text) => text)).toBe(index)
})

test.each([
  ['before its first quote', 70, [70, 80, 90, 100, 110, 120, 200], [5, 5, 5, 5, 6, 7, 7]],
  ['between two quotes', 115, [115, 100, 110, 120, 200], [6, 5, 6, 7, 7]],
  ['at a quote', 110, [110, 100, 110, 120, 200], [6, 5, 6, 7, 7]],
])(
  'a run that begins %s has the price that stood then, and the last one to its end',
  (_, fromAt, at, bid) => {
    const columns = new Map([
      ['at', Float64Array.of(100, 110, 120)],
      ['bid', Float64Array.of(5, 6, 7)],
    ] as const)
    const table = { kind: 'quotes', source: 'made', columns, whereOf: String } as const

    const tables = standStill([table], { fromAt, toAt: 200 })

    expect(tables.flatMap((one) => [...(one.columns.get('at') ?? [])])).toEqual(at)
    expect(tables.flatMap((one) => [...(one.columns.get('bid') ?? [])])).toEqual(bid)
  },
)

test('the first thing that was shown otherwise is named, in the order of what explains what', () => {
  const recorded = new Map([
    ['prices of BTCUSDT', '1 / 2'],
    ['1m candles of BTCUSDT', '3'],
    ['state', 'x'.repeat(200)],
  ])
  const played = new Map([...recorded, ['1m candles of BTCUSDT', '2'], ['state', 'none']] as const)

  expect(firstShownOther(recorded, recorded)).toBeUndefined()
  expect(firstShownOther(recorded, played)).toBe(
    '1m candles of BTCUSDT: 3 recorded, 2 in the backtest',
  )
  expect(firstShownOther(new Map(), new Map([['state', 'y'.repeat(200)]]))).toMatch(
    /^state: none recorded, y{120}… in/,
  )
})
