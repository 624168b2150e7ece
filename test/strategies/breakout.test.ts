import { describe, expect, it } from 'vitest'
import { runSeries } from 'intentd/testing'
import breakout from '../../strategies/breakout.ts'
import { holdingOf, madeOrder, madeSnapshot } from '../support/market-moment.ts'
import { createExample, decide, madeCandles } from './decide-on.ts'

const PARAMS = {
  interval: '1m',
  period: 10,
  atrPeriod: 2,
  size: '0.01',
  stopRanges: 2,
  profitRanges: 4,
}

/** Forty minutes between 995 and 1005, true range 10, then the given candles. */
const calm = Array.from({ length: 40 }, () => ({ open: 1000, high: 1005, low: 995, close: 1000 }))

function entriesAfter(
  last: { open: number; high: number; low: number; close: number },
  params: object = {},
) {
  const decisions = runSeries({
    strategy: breakout,
    params: { ...PARAMS, ...params },
    candles: [...calm, last],
  })
  expect(decisions.flatMap(({ denials }) => denials)).toEqual([])
  return decisions.flatMap(({ intents }) => intents)
}

describe('the breakout', () => {
  it('buys above the channel, with a stop and a take-profit in true ranges from the entry', () => {
    const entries = entriesAfter({ open: 1000, high: 1006, low: 999, close: 1006 })

    // The ask is a tick above the price: 10061 ticks, and a range is 100 ticks.
    expect(entries).toEqual([
      {
        kind: 'place',
        symbol: 'BTCUSDT',
        key: `breakout:BTCUSDT:${Date.UTC(2024, 0, 1, 0, 39)}`,
        action: 'openLong',
        lots: 10,
        ticks: 10061,
        force: 'ioc',
        takeProfitTicks: 10461,
        stopLossTicks: 9861,
      },
    ])
  })

  it('sells short below the channel, with both exits the other way round', () => {
    const [entry] = entriesAfter({ open: 1000, high: 1001, low: 994, close: 994 })

    expect(entry).toMatchObject({
      action: 'openShort',
      ticks: 9940,
      takeProfitTicks: 9540,
      stopLossTicks: 10_140,
    })
  })

  it('wants nothing inside of the channel, and nothing before the range is known', () => {
    expect(entriesAfter({ open: 1000, high: 1005, low: 995, close: 1001 })).toEqual([])
    expect(
      entriesAfter({ open: 1000, high: 1006, low: 999, close: 1006 }, { atrPeriod: 3 }),
    ).toEqual([])
  })

  it('asks for an exit at the first tick where the range is larger than the price', () => {
    const [entry] = entriesAfter(
      { open: 1000, high: 1001, low: 994, close: 994 },
      { profitRanges: 50, stopRanges: 20 },
    )
    const far = entriesAfter({ open: 100, high: 1000, low: 100, close: 100 }, { profitRanges: 50 })

    expect(entry).toMatchObject({ takeProfitTicks: 4940 })
    expect(far[0]).toMatchObject({ takeProfitTicks: 1 })
  })

  it('enters once a candle', () => {
    expect(entriesAfter({ open: 1006, high: 1008, low: 1006, close: 1007 })).toHaveLength(1)
  })

  it('enters again only when nothing is held and no order is open', () => {
    const swings = Array.from({ length: 40 }, (_, index) => 1000 + (index % 2))
    const wantedWith = (
      row: Pick<Parameters<typeof madeSnapshot>[0][number], 'holding' | 'orders'>,
    ) => {
      const snapshot = madeSnapshot([{ bid: 1010, ask: 1010.1, columns: { lastPr: 1010 }, ...row }])
      const candles = new Map([madeCandles('BTCUSDT', swings)])
      return decide(createExample(breakout, PARAMS), { ...snapshot, candles }).length
    }

    expect(wantedWith({})).toBe(1)
    expect(wantedWith({ holding: holdingOf(-10) })).toBe(0)
    expect(wantedWith({ orders: [madeOrder({ action: 'openLong', ticks: 10_101 })] })).toBe(0)
  })
})
