import { expect, test } from 'vitest'
import { type StrategyId, toStrategyId } from '../../src/domain/ids.ts'
import type { StrategySettings } from '../../src/engine/settings.ts'
import { PlotLog } from '../../src/daemon/reporting/account-curves.ts'
import { type CurvePoint, parsePlotSeries, toPlotSeries } from '../../src/journal/curves.ts'
import { viewKeptPlots } from '../../src/views/kept-curve.ts'

const MINUTE_MS = 60_000
const BEGIN = Date.UTC(2026, 0, 1)
const NAMED = { strategy: 'grid', symbol: 'BTCUSDT', name: 'the trend' }

const LIMITS = new Map()

function openLog() {
  const kept: CurvePoint[] = []
  const ended: string[] = []
  const said: string[] = []
  const time = { at: BEGIN }
  const id = toStrategyId(NAMED.strategy)
  const strategies = new Map<StrategyId, StrategySettings>()
  const trade = (...symbols: string[]) =>
    strategies.set(id, { id, symbols, limits: LIMITS, feeds: new Map() })
  trade(NAMED.symbol)
  const log = new PlotLog({
    journal: {
      notePoints: (points, over = []) => {
        kept.push(...points)
        ended.push(...over)
      },
    },
    clock: { now: () => time.at },
    settings: { strategies },
    logger: { log: (_, event, fields = {}) => said.push(`${event} ${String(fields['symbol'])}`) },
  })
  const plot = (value: number, name = NAMED.name, symbol = NAMED.symbol): void =>
    log.hear(NAMED.strategy, [{ symbol, name, value }])
  return { kept, ended, said, time, log, plot, trade }
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

test('[BND1] no more than 64 plots are kept, which is said once', () => {
  const { kept, said, log, plot } = openLog()
  for (let count = 0; count < 100; count++) plot(count, `plot ${count}`)
  log.look()

  expect(kept).toHaveLength(64)
  expect(said).toEqual(['plots.full BTCUSDT'])
})

test('plots of instruments that left make room for those of others', () => {
  const { kept, ended, said, time, log, plot, trade } = openLog()
  for (let count = 0; count < 64; count++) plot(count, `plot ${count}`)
  log.look()
  plot(1, 'trend', 'ETHUSDT')
  expect(said).toEqual(['plots.full ETHUSDT'])

  trade('ETHUSDT')
  time.at += MINUTE_MS
  log.look()
  plot(2, 'trend', 'ETHUSDT')
  time.at += MINUTE_MS
  log.look()

  expect(ended).toHaveLength(64)
  expect(said.slice(1)).toEqual(['plots.ended BTCUSDT'])
  const series = toPlotSeries({ strategy: NAMED.strategy, symbol: 'ETHUSDT', name: 'trend' })
  expect(kept.at(-1)).toEqual({ series, at: BEGIN + 2 * MINUTE_MS, value: '2' })
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
