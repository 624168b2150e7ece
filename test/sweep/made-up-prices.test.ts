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
