import { expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { describeComparison } from '../../src/report/text/terminal-report.ts'
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
    ...{ model, money, ratios: [], denials: [], rejections: [], fromAt: 0, toAt: 2000 },
    buyAndHold: { value: 0, instruments: {} },
    fills: { count: 0, makerShare: 0 },
    series: { startAt: 0, stepMs: 1000, close: [1, 2] },
  }) as unknown as RunReport

const MODELS = ['pessimistic', 'default', 'optimistic']
const named = ['backtests-paper-0a1b2c3d', 'backtests-paper-9f8e7d6c'].flatMap((place) =>
  MODELS.map((model) => ({ place, name: `${place} ${model}`, run: run(model), coin: 'USDT' })),
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

test('six runs have six colours', () => {
  const page = renderEquities(
    named.map((one) => one.run),
    named.map(({ name }) => name),
    'USDT',
  )

  expect(new Set(page.match(/var\(--[a-z]+\)/g)).size).toBe(6)
})
