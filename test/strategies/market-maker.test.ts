import { describe, expect, it } from 'vitest'
import marketMaker from '../../strategies/market-maker.ts'
import { holdingOf, madeInstrument, madeSnapshot } from '../support/market-moment.ts'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import { createExample, decide, madeCandles } from './decide-on.ts'

const PARAMS = {
  size: '0.01',
  inventoryMax: '0.02',
  widthMinBps: 10,
  widthDeviations: 1,
  period: 10,
  requoteTicks: 20,
}
const CALM = Array.from({ length: 10 }, () => 1000)
const RESTLESS = CALM.map((close, index) => close + (index % 2 === 0 ? 5 : -5))

/** At a middle in quote coin, with a spread of two ticks. */
function momentAt(mid: number, { netLots = 0, closes = CALM } = {}) {
  const snapshot = madeSnapshot([{ bid: mid - 0.1, ask: mid + 0.1, holding: holdingOf(netLots) }])
  return { ...snapshot, candles: new Map([madeCandles('BTCUSDT', closes)]) }
}

const quoteOf = (levels: readonly { side: string; ticks: number }[]) => [
  { kind: 'quote', symbol: 'BTCUSDT', levels: levels.map((level) => ({ ...level, lots: 10 })) },
]

describe('the market maker', () => {
  it('quotes both sides at the least distance while the price is calm', () => {
    const wanted = decide(createExample(marketMaker, PARAMS), momentAt(1000))

    expect(wanted).toEqual(
      quoteOf([
        { side: 'buy', ticks: 9990 },
        { side: 'sell', ticks: 10_010 },
      ]),
    )
  })

  it('quotes a standard deviation away when that is further', () => {
    const wanted = decide(createExample(marketMaker, PARAMS), momentAt(1000, { closes: RESTLESS }))

    expect(wanted).toEqual(
      quoteOf([
        { side: 'buy', ticks: 9950 },
        { side: 'sell', ticks: 10_050 },
      ]),
    )
  })

  it('lowers both orders while it is long, by half the width at half of what it may hold', () => {
    const wanted = decide(createExample(marketMaker, PARAMS), momentAt(1000, { netLots: 10 }))

    expect(wanted).toEqual(
      quoteOf([
        { side: 'buy', ticks: 9985 },
        { side: 'sell', ticks: 10_005 },
      ]),
    )
  })

  it('leaves out the side that would hold more than it may', () => {
    const runner = createExample(marketMaker, PARAMS)

    expect(decide(runner, momentAt(1000, { netLots: 20 }))).toMatchObject([
      { levels: [{ side: 'sell' }] },
    ])
    expect(decide(runner, momentAt(1000, { netLots: -20 }))).toMatchObject([
      { levels: [{ side: 'buy' }] },
    ])
  })

  it('leaves its orders where they are until one would move by requoteTicks', () => {
    const runner = createExample(marketMaker, { ...PARAMS, widthMinBps: 30 })
    const first = decide(runner, momentAt(1000))

    expect(decide(runner, momentAt(1000.9))).toEqual(first)
    expect(decide(runner, momentAt(1001.8))).toEqual(first)
    expect(decide(runner, momentAt(1002))).not.toEqual(first)
  })

  it('moves an order that would meet the other side, however little that is', () => {
    const runner = createExample(marketMaker, { ...PARAMS, requoteTicks: 1000 })
    decide(runner, momentAt(1000))

    const wanted = decide(runner, momentAt(1001.1))

    expect(wanted).toEqual(
      quoteOf([
        { side: 'buy', ticks: 10_000 },
        { side: 'sell', ticks: 10_022 },
      ]),
    )
  })

  it('wants nothing before there are candles, or without prices', () => {
    const runner = createExample(marketMaker, PARAMS)

    expect(decide(runner, momentAt(1000, { closes: CALM.slice(1) }))).toEqual([])
    expect(decide(runner, momentAt(Number.NaN))).toEqual([])
  })

  it('objects to sizes that no order can have', () => {
    const instruments = [madeInstrument({ lotsMin: 20 })]
    const params = { ...PARAMS, inventoryMax: '0.005' }

    expect(checkBinding({ strategy: marketMaker, params, instruments })).toEqual([
      'size 0.01 is below the smallest order of BTCUSDT',
      'inventoryMax 0.005 is below the size 0.01',
    ])
  })
})
