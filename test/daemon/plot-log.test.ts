import { expect, test } from 'vitest'
import { PlotLog } from '../../src/daemon/reporting/plot-log.ts'
import { type CurvePoint, parsePlotSeries, toPlotSeries } from '../../src/journal/curves.ts'
import { viewKeptPlots } from '../../src/views/kept-plots.ts'

const MINUTE_MS = 60_000
const BEGIN = Date.UTC(2026, 0, 1)
const NAMED = { strategy: 'grid', symbol: 'BTCUSDT', name: 'the trend' }

function openLog() {
  const kept: CurvePoint[] = []
  const time = { at: BEGIN }
  const log = new PlotLog({
    journal: { notePoints: (points) => kept.push(...points) },
    clock: { now: () => time.at },
  })
  const plot = (value: number, name = NAMED.name): void =>
    log.hear(NAMED.strategy, [{ symbol: NAMED.symbol, name, value }])
  return { kept, time, log, plot }
}

test('a plot is kept once a minute, with its last value, and only where that is another one', () => {
  const { kept, time, log, plot } = openLog()
  for (const value of [1, 2, 3]) plot(value)
  log.look()
  plot(4)
  log.look()
  time.at += MINUTE_MS
  log.look()
  time.at += MINUTE_MS
  log.look()
  plot(5)
  plot(4)
  time.at += MINUTE_MS
  log.look()

  const series = toPlotSeries(NAMED)
  expect(kept).toEqual([
    { series, at: BEGIN, value: '3' },
    { series, at: BEGIN + MINUTE_MS, value: '4' },
  ])
  expect(parsePlotSeries(series)).toEqual(NAMED)
  expect(parsePlotSeries('account')).toBeUndefined()
})

test('[BND1] no more than 64 plots are kept', () => {
  const { kept, log, plot } = openLog()
  for (let count = 0; count < 100; count++) plot(count, `plot ${count}`)
  log.look()

  expect(kept).toHaveLength(64)
})

test('the plots of an instrument begin with the value that holds then', () => {
  const series = toPlotSeries(NAMED)
  const points = [1, 2, 3].map((value, index) => ({
    series,
    at: BEGIN + index * 10 * MINUTE_MS,
    value: String(value),
  }))
  const source = { curve: () => points, curveNames: () => ['account', series] }
  const valuesSince = (since: number | undefined) =>
    viewKeptPlots(source, NAMED.symbol, since)[0]?.points.map(({ value }) => value)

  expect(valuesSince(undefined)).toEqual([1, 2, 3])
  expect(valuesSince(BEGIN + 15 * MINUTE_MS)).toEqual([2, 3])
  expect(viewKeptPlots(source, 'ETHUSDT', undefined)).toEqual([])
})
