import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineStrategy } from '../../src/strategy/define-strategy.ts'
import { PlotSheet } from '../../src/strategy/instrument-view.ts'
import { StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'

const SYMBOL = 'BTCUSDT'

describe('what a strategy plots', () => {
  test('stands beside its decision where it has changed', () => {
    const runner = new StrategyRunner({
      strategyId: 'made-up-btc',
      strategy: defineStrategy({
        name: 'made-up',
        params: z.unknown(),
        initialState: () => ({ count: 0 }),
        decide(snapshot, { state }) {
          const market = snapshot.instrument(SYMBOL)
          market.plot('bid', market.bid)
          market.plot('count', Math.floor(state.count / 2))
          return { intents: [], state: { count: state.count + 1 } }
        },
      }),
      params: {},
      instruments: [madeInstrument()],
      clock: new ManualTime(MOMENT_AT),
    })

    const found = [0, 1, 2].map(() => runner.decide(madeSnapshot([{ bid: 100, ask: 101 }])))

    expect(found.map((one) => (one.kind === 'decided' ? one.plots : 'failed'))).toEqual([
      [
        { symbol: SYMBOL, name: 'bid', value: 100 },
        { symbol: SYMBOL, name: 'count', value: 0 },
      ],
      undefined,
      [{ symbol: SYMBOL, name: 'count', value: 1 }],
    ])
  })

  test('is the last value of a decision, and nothing where it is no number or has no name', () => {
    const sheet = new PlotSheet()
    sheet.add(SYMBOL, 'trend', 1)
    sheet.add(SYMBOL, 'trend', 2)
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '3', undefined])
      sheet.add(SYMBOL, 'other', value)
    for (const name of ['', ' a', 'a\nb', 'x'.repeat(25), 5]) sheet.add(SYMBOL, name, 1)

    expect(sheet.take()).toEqual({ plots: [{ symbol: SYMBOL, name: 'trend', value: 2 }] })
    expect(sheet.take()).toEqual({})
  })

  test('is not what it waits for: that counts until the next decision, and is said once', () => {
    const sheet = new PlotSheet()
    const decide = (...waits: readonly unknown[]) => {
      sheet.begin()
      for (const what of waits) sheet.wait(SYMBOL, what)
      return sheet.take()
    }

    expect(decide('a price', '4 min of prices')).toEqual({
      waits: [{ symbol: SYMBOL, what: '4 min of prices' }],
    })
    expect(decide('4 min of prices')).toEqual({})
    expect(decide('x'.repeat(200)).waits?.[0]?.what).toHaveLength(120)
    expect(decide('', 5)).toEqual({ waits: [] })
    expect(decide()).toEqual({})
  })

  test('[BND1] has eight names an instrument at most', () => {
    const sheet = new PlotSheet()
    for (let count = 0; count < 20; count++) sheet.add(SYMBOL, `name ${count}`, count)
    sheet.add('ETHUSDT', 'name', 1)

    expect(sheet.take().plots).toHaveLength(9)
  })
})
