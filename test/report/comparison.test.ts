import { expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { describeComparison } from '../../src/report/text/terminal-report.ts'
import { listDifferences } from '../../src/report/text/recipe-differences.ts'
import { renderComparison } from '../../src/report/page/page.ts'
import { renderComparisonPage } from '../../src/report/page/comparison-page.ts'
import { renderChart } from '../../src/report/page/chart.ts'
import { renderEquities } from '../../src/report/page/run-charts.ts'

const money = {
  opening: '1',
  realised: '0',
  unrealised: '0',
  fees: '0',
  funding: '0',
  insurance: '0',
  final: '1',
}
const run = (model: string): RunReport =>
  ({
    model,
    money,
    ratios: [],
    denials: [],
    rejections: [],
    restrictions: [],
    fromAt: 0,
    toAt: 2e3,
    buyAndHold: {
      value: 0,
      instruments: {},
    },
    fills: {
      count: 0,
      makerShare: 0,
    },
    series: {
      startAt: 0,
      stepMs: 1e3,
      close: [1, 2],
    },
  }) as unknown as RunReport

const MODELS = ['pessimistic', 'default', 'optimistic']
const named = ['backtests-paper-0a1b2c3d', 'backtests-paper-9f8e7d6c'].flatMap((place) =>
  MODELS.map((model) => ({
    place,
    name: `${place} ${model}`,
    run: run(model),
    coin: 'USDT',
    madeUp: [],
  })),
)

test('six runs of two backtests have headings that tell them apart', () => {
  const lines = describeComparison(named)

  const headings = lines.filter((line) => line.includes('…'))
  expect(headings).toHaveLength(2)
  expect(headings[0]).toContain('0a1b2c3d')
  expect(headings[1]).toContain('9f8e7d6c')
  for (const { name } of named) expect(lines).toContain(`  ${name}`)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
})

test('a short run beside a long one says of which time each ratio is, and when each was', () => {
  const sharpe = (value: number, note?: string) => ({
    name: 'Sharpe',
    value,
    unit: 'number',
    formula: '',
    ...(note && { note }),
  })
  const short = {
    ...run('default'),
    ratios: [sharpe(-0.15, 'per day; not annualised')],
  } as RunReport
  const long = { ...run('default'), ratios: [sharpe(-6.56)], toAt: 86_400_000 * 100 } as RunReport
  const compare = (runs: readonly RunReport[]) =>
    describeComparison(
      runs.map((one, index) => ({ place: `${index}`, name: `${index}`, run: one, madeUp: [] })),
    )
      .map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))
      .filter((line) => /^(?:Sharpe|from|to)\b/.test(line))

  expect(compare([short, long])).toEqual([
    'from, UTC | 1970-01-01 00:00 | 1970-01-01 00:00',
    'to | 1970-01-01 00:00 | 1970-04-11 00:00',
    'Sharpe | -0.15 a day | -6.56 a year',
  ])
  expect(compare([short, short])).toEqual(['Sharpe, per day | -0.15 | -0.15'])
  expect(compare([long, long])).toEqual(['Sharpe | -6.56 | -6.56'])
  expect(renderComparison([short, long], ['a', 'b'])).toMatch(/-0\.15 a day.*-6\.56 a year/)
})

test('the curves of two runs of the same time stand below each other, however many values each has', () => {
  const curves = (...closes: readonly (readonly (number | null)[])[]) =>
    describeComparison(
      closes.map((close, index) => {
        const one = run('default')
        return {
          place: `${index}`,
          name: `${index}`,
          madeUp: [],
          run: { ...one, series: { ...one.series, close } as never },
        }
      }),
    ).flatMap((line) => (/[▁█]/.test(line) ? [line.trim()] : []))

  const rise = Array.from({ length: 90 }, (_, index) => (index < 45 ? 1 : 2))
  // Prices that were read seldom leave most of the buckets without a value.
  const seldom = rise.map((value, index) => (index % 45 === 0 ? value : null))
  const half = '▁'.repeat(30) + '█'.repeat(30)
  expect(curves(rise, seldom, [1, 2])).toEqual([half, half, half])
})

test('what ended the trading of a run stands above the figures, in the terminal and in the page', () => {
  const text =
    'trading ended 1970-01-01 00:00 UTC, halted (dailyLoss): lost 31 of 30; 1 s of 2 s were traded'
  const pair = ['calm', 'wild'].map((name) => ({
    place: name,
    name,
    coin: 'USDT',
    madeUp: [],
    run: {
      ...run('default'),
      strategies: [],
      restrictions: name === 'wild' ? [text] : [],
    } as RunReport,
  }))

  const lines = describeComparison(pair)
  expect(lines[1]).toBe(
    '  wild: trading ended 1970-01-01 00:00 UTC, halted (dailyLoss): lost 31 of 30;',
  )
  expect(renderComparisonPage(pair)).toContain(`<li>wild: ${text}</li>`)
  expect(renderComparisonPage(pair)).not.toContain('<li>calm: trading')
})

test('a run on made-up prices says so first, and in its column, in the terminal and in the page', () => {
  const pair = ['real', 'seeded'].map((place) => ({
    place,
    coin: 'USDT',
    run: { ...run('default'), strategies: [] },
    name: place === 'real' ? place : 'seeded, made-up prices',
    madeUp: place === 'real' ? [] : ['Made-up prices (seeded market).'],
  }))

  const lines = describeComparison(pair)
  expect(lines[1]).toBe('  seeded, made-up prices: Made-up prices (seeded market).')
  expect(lines.map((line) => line.trim().split(/ {2,}/))).toContainEqual([
    'prices',
    'real',
    'made up',
  ])
  expect(describeComparison(pair.slice(0, 1)).join('\n')).not.toMatch(/prices/)
  const page = renderComparisonPage(pair)
  expect(page).toContain('<title>real and seeded, made-up prices</title>')
  expect(page).toMatch(/What to know first<\/h2><ul><li>seeded, made-up prices: Made-up prices/)
})

test('what two runs ran with is compared by name: the parameter that differs, not its digest alone', () => {
  const recipe = (period: number, config: string) => ({
    format: 1,
    param: [`my-rsi.period=${period}`],
    params: { 'my-rsi': { period, buyBelow: 30 } },
    sha256: { config: config.repeat(32) },
  })
  const differences = listDifferences(recipe(14, 'ab'), recipe(7, 'cd'))

  const lines = describeComparison(named, differences)
  const from = lines.findIndex((line) => line.includes('what differs'))
  expect(lines.slice(from, from + 4)).toEqual([
    '  what differs, here of the first and of the second:',
    '  params.my-rsi.period: 14 | 7',
    '  sha256.config: abababababab… | cdcdcdcdcdcd…',
    '',
  ])
  const pair = named.map((one) => ({ ...one, run: { ...one.run, strategies: [] } }))
  expect(renderComparisonPage(pair, differences)).toMatch(
    /What differs.*params\.my-rsi\.period<\/td><td class="text">14<\/td><td class="text">7<\/td>/s,
  )
})

test('two runs with the same inputs say so, and what ran without a recipe of a backtest says nothing of it', () => {
  const recipe = { format: 1, params: { grid: { levels: 3 } } }

  expect(describeComparison(named, listDifferences(recipe, recipe))).toContain(
    '  nothing differs: the same program, settings and prices',
  )
  expect(listDifferences(recipe, { recording: 'a.rec' })).toBeUndefined()
  expect(listDifferences(recipe, undefined)).toBeUndefined()
  expect(
    listDifferences({ format: 1, param: ['grid.levels=3'] }, { format: 1, param: [] }),
  ).toEqual([{ name: 'param', one: '["grid.levels=3"]', other: '[]' }])
})

test('six runs have six colours', () => {
  const page = renderEquities(
    named.map((one) => one.run),
    named.map(({ name }) => name),
    'USDT',
  )

  expect(new Set(page.match(/var\(--[a-z]+\)/g)).size).toBe(6)
})

test('the axis of a chart has as many decimals as the price of a cheap coin needs', () => {
  const chart = renderChart({
    title: 'PEPEUSDT',
    startAt: 0,
    stepMs: 1e3,
    count: 2,
    heightPx: 100,
    unit: 'price',
    group: 'all',
    series: [
      {
        name: 'price',
        colour: '--grey',
        kind: 'line',
        values: [248e-8, 25e-7],
        path: 'prices',
      },
    ],
  })

  const labels = [...chart.matchAll(/class="y"[^>]*>([^<]+)</g)].map(([, label]) => label)
  expect(labels.length).toBeGreaterThan(1)
  expect(new Set(labels).size).toBe(labels.length)
})
