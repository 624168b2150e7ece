import { expect, test } from 'vitest'
import { toTickerRows, toTickerTable } from '../../src/domain/ticker-rows.ts'
import { buildMarketAggregates, MarketWatch, TickerTable } from '../../src/domain/ticker-table.ts'

function tableOf(changes: readonly number[], requestTime = 60_000): TickerTable {
  const table = new TickerTable(16)
  for (const [index, change] of changes.entries())
    table.columns.change24h[table.claimRow(`C${index}USDT`)] = change
  table.requestTime = requestTime
  return table
}

test('counts what has risen and fallen, and nothing that states no change', () => {
  const market = buildMarketAggregates(tableOf([0.02, Number.NaN, -0.01, 0, 0.05]))

  expect(market).toEqual({ at: 60_000, count: 4, advance: 2, decline: 1, medianChange: 0.01 })
  expect(buildMarketAggregates(tableOf([0.3]))?.medianChange).toBe(0.3)
})

test('is unknown without a row that says enough, and sees no rows of an earlier answer', () => {
  const table = tableOf([0.02, 0.03])
  table.clear()
  expect(buildMarketAggregates(table)).toBeUndefined()
  expect(buildMarketAggregates(tableOf([Number.NaN]))).toBeUndefined()
})

test('the first answer of a minute counts until the next minute, whatever its time was', () => {
  const watch = new MarketWatch()
  const first = watch.follow(tableOf([0.1], 61_000))
  expect(watch.follow(tableOf([0.2], 119_999))).toBe(first)
  expect(watch.follow(tableOf([0.3], 120_000))).toMatchObject({ medianChange: 0.3 })
  expect(watch.follow(tableOf([0.4], 9_000_000))).toMatchObject({ medianChange: 0.4 })
  expect(watch.follow(tableOf([0.5], 180_000))).toMatchObject({ medianChange: 0.5 })
})

test('a recording that keeps a part of the rows keeps them all the same', () => {
  const table = tableOf([0.02, 0.04])
  table.market = buildMarketAggregates(table)

  const kept = toTickerTable(toTickerRows(table, ['C0USDT']))

  expect(kept.symbols).toEqual(['C0USDT'])
  expect(kept.market).toEqual(table.market)
})
