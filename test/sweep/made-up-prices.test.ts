import { expect, test } from 'vitest'
import { describeSweep } from '../../src/sweep-run/run-sweep.ts'
import { describeMadeUp } from '../../src/report/text/figures.ts'
import { renderSweepPage } from '../../src/sweep/sweep-page.ts'
import type { SweepReport } from '../../src/sweep/sweep-report.ts'

const REPORT: SweepReport = {
  format: 1,
  name: 'paper',
  coin: 'USDT',
  method: 'grid',
  objective: 'sharpe',
  from: '2025-01-01T00:00:00.000Z',
  to: '2025-01-02T00:00:00.000Z',
  periodMs: 60_000,
  trials: [],
  folds: [],
  tries: 0,
  deflated: null,
  overfitting: null,
  heatMap: null,
  remarks: ['another remark'],
}

function sweepOn(kinds: readonly ('seeded' | 'candles')[]): SweepReport {
  const coverage = kinds.map((kind, index) => ({ symbol: `S${index}USDT`, kind }))
  return { ...REPORT, madeUp: describeMadeUp(coverage) }
}

test('a sweep on made-up prices says so first, on the terminal and in its page', () => {
  const report = sweepOn(['seeded'])

  expect(describeSweep(report)[2]).toMatch(/^ {2}Made-up prices \(seeded market\)/)
  const page = renderSweepPage(report)
  expect(page).toContain('<title>Sweep of paper on made-up prices</title>')
  expect(page).toMatch(/What to know first<\/h2><ul><li>Made-up prices.*<\/li><li>another remark/)
})

test('of several instruments it names those whose prices are made up', () => {
  expect(describeSweep(sweepOn(['candles', 'seeded']))[2]).toMatch(
    /^ {2}Made-up prices of S1USDT \(/,
  )
  expect(renderSweepPage(sweepOn(['candles']))).not.toMatch(/made-up/i)
})

test('the terminal says what a score is, and each column of the walk-forward has a title above it', () => {
  const span = { from: '2025-01-01T00:00:00.000Z', to: '2025-01-01T12:00:00.000Z', score: 0.5 }
  const row = { params: {}, figures: null, failed: '', command: '' }
  const folds = [{ id: 'a', ...row, inSample: span, outOfSample: { ...span, score: -0.25 } }]
  const lines = describeSweep({ ...REPORT, folds })

  const at = lines.findIndex((line) => line.startsWith('  walk-forward'))
  const [titles = '', values = ''] = lines.slice(at + 1)
  for (const [title, value] of [
    ['before', '0.5000'],
    ['in it', '-0.2500'],
    ['return', 'n/a'],
  ] as const)
    expect(titles.indexOf(title) + title.length).toBe(values.indexOf(value) + value.length)
  expect(lines).toContain(
    '  score: mean over standard deviation of the returns of each 1 min, not annualised',
  )
})
