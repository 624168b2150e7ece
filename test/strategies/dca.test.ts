import { describe, expect, it } from 'vitest'
import dca from '../../strategies/dca.ts'
import { holdingOf, madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import { createExample, decide } from './decide-on.ts'

const PARAMS = { amount: '25', amountMax: '60', everyMinutes: 60, takeProfitBps: 100 }
const SLOT = MOMENT_AT / 3_600_000

/** Bid 999.9 and ask 1000 so many minutes after midnight; what is held was bought at 1000. */
function momentAt(minutes: number, { netLots = 0, entryTicks = 10_000 } = {}) {
  const trades = {
    fills: [],
    entry: {
      longLots: netLots,
      longTicks: entryTicks,
      shortLots: 0,
      shortTicks: 0,
    },
    dayAt: MOMENT_AT,
    dayProfit: '0',
    dayFees: '0',
  }
  const row = { bid: 999.9, ask: 1000, holding: holdingOf(netLots), trades }
  return madeSnapshot([row], { exchangeTime: MOMENT_AT + minutes * 60_000 })
}

const placesOf = (wanted: ReturnType<typeof decide>) =>
  wanted.filter(({ kind }) => kind === 'place')

describe('dollar-cost averaging', () => {
  it('buys for the amount, once in each slot', () => {
    const runner = createExample(dca, PARAMS)

    expect(placesOf(decide(runner, momentAt(0)))).toEqual([
      {
        kind: 'place',
        symbol: 'BTCUSDT',
        key: `dca:BTCUSDT:${SLOT}`,
        action: 'openLong',
        lots: 25,
        ticks: 1e4,
        force: 'ioc',
      },
    ])
    expect(placesOf(decide(runner, momentAt(59)))).toEqual([])
    expect(placesOf(decide(runner, momentAt(60)))).toMatchObject([
      { key: `dca:BTCUSDT:${SLOT + 1}` },
    ])
  })

  it('buys no slot twice over a restart, and gives it the same key when its state was lost', () => {
    const before = createExample(dca, PARAMS)
    const first = placesOf(decide(before, momentAt(0)))

    const after = createExample(dca, PARAMS, { stateText: before.stateText })

    expect(placesOf(decide(after, momentAt(1)))).toEqual([])
    expect(placesOf(decide(createExample(dca, PARAMS), momentAt(1)))).toEqual(first)
  })

  it('leaves out slots that it slept through', () => {
    const runner = createExample(dca, PARAMS)
    decide(runner, momentAt(0))

    expect(placesOf(decide(runner, momentAt(300)))).toMatchObject([
      { key: `dca:BTCUSDT:${SLOT + 5}`, lots: 25 },
    ])
  })

  it('buys nothing beyond the largest amount', () => {
    const runner = createExample(dca, PARAMS)

    expect(placesOf(decide(runner, momentAt(0, { netLots: 36 })))).toEqual([])
    expect(placesOf(decide(runner, momentAt(60, { netLots: 35 })))).toHaveLength(1)
    // Worth 35 by now, paid 42.
    expect(placesOf(decide(runner, momentAt(120, { netLots: 35, entryTicks: 12_000 })))).toEqual([])
  })

  it('offers all that it holds above the average that it paid', () => {
    const wanted = decide(
      createExample(dca, PARAMS),
      momentAt(0, { netLots: 30, entryTicks: 10_100 }),
    )

    expect(wanted.at(-1)).toEqual({
      kind: 'quote',
      symbol: 'BTCUSDT',
      levels: [
        {
          side: 'sell',
          ticks: 10201,
          lots: 30,
        },
      ],
    })
  })

  it('offers it at the best price where the average was passed long ago, and nothing while nothing is held', () => {
    const runner = createExample(dca, PARAMS)

    expect(decide(runner, momentAt(0, { netLots: 30, entryTicks: 5000 })).at(-1)).toMatchObject({
      levels: [{ ticks: 10_000 }],
    })
    expect(decide(runner, momentAt(1)).at(-1)).toMatchObject({ levels: [] })
  })

  it('offers nothing of which it does not know what was paid', () => {
    const adopted = madeSnapshot([{ bid: 999.9, ask: 1000, holding: holdingOf(30) }])

    expect(decide(createExample(dca, PARAMS), adopted).at(-1)).toMatchObject({ levels: [] })
  })

  it('objects to an amount that is never spent', () => {
    const params = { ...PARAMS, amountMax: '20' }

    expect(checkBinding({ strategy: dca, params, instruments: [madeInstrument()] })).toEqual([
      'amount 25 is above amountMax 20',
    ])
  })
})
