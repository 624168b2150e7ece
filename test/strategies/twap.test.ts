import { describe, expect, it } from 'vitest'
import { type PlaceIntent } from '../../src/domain/intent.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import twap from '../../strategies/twap.ts'
import {
  holdingOf,
  madeInstrument,
  madeOrder,
  madeSnapshot,
  MOMENT_AT,
} from '../support/market-moment.ts'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import { createExample, decide } from './decide-on.ts'

/** Ten children of ten lots. */
const PARAMS = { parent: 'one', side: 'buy', total: '0.1', minutes: 10, everySeconds: 60 }

function momentAt(
  seconds: number,
  { netLots = 0, fillsReadAt = Infinity, orders = [] as ReturnType<typeof madeOrder>[] } = {},
) {
  const at = MOMENT_AT + seconds * 1000
  return madeSnapshot([{ bid: 999.9, ask: 1000, holding: holdingOf(netLots), orders }], {
    takenAt: at,
    fillsReadAt: Math.min(at, fillsReadAt),
  })
}

function childAt(
  runner: StrategyRunner,
  seconds: number,
  moment: Parameters<typeof momentAt>[1] = {},
) {
  const [child] = decide(runner, momentAt(seconds, moment))
  return child as PlaceIntent | undefined
}

describe('the time-weighted average price', () => {
  it('places one child a slot, each under a name of its own', () => {
    const runner = createExample(twap, PARAMS)

    expect(childAt(runner, 0)).toEqual({
      kind: 'place',
      symbol: 'BTCUSDT',
      key: 'twap:one:BTCUSDT:0',
      action: 'openLong',
      lots: 10,
      ticks: 1e4,
      force: 'ioc',
      ttlMs: 3e4,
    })
    expect(childAt(runner, 30, { netLots: 10 })).toBeUndefined()
    expect(childAt(runner, 60, { netLots: 10 })).toMatchObject({
      key: 'twap:one:BTCUSDT:1',
      lots: 10,
    })
  })

  it('carries on what a child did not get', () => {
    const runner = createExample(twap, PARAMS)
    childAt(runner, 0)

    expect(childAt(runner, 60, { netLots: 3 })).toMatchObject({ lots: 17 })
    expect(childAt(runner, 300, { netLots: 3 })).toMatchObject({
      key: 'twap:one:BTCUSDT:5',
      lots: 57,
    })
  })

  it('goes on after the end until the parent is filled, and never beyond it', () => {
    const random = createRandom('twap')
    const runner = createExample(twap, PARAMS)
    let netLots = 40 // What was held before is no part of the parent.
    for (let seconds = 0; seconds <= 3600; seconds += 20) {
      const lots = childAt(runner, seconds, { netLots })?.lots ?? 0
      netLots += random.integer(lots + 1)
      expect(netLots).toBeLessThanOrEqual(140)
    }
    expect(netLots).toBe(140)
    expect(childAt(runner, 4000, { netLots })).toBeUndefined()
  })

  it('waits while a child may still be filled, or its fills were not read', () => {
    const runner = createExample(twap, PARAMS)
    childAt(runner, 0)
    const child = madeOrder({ action: 'openLong', ticks: 10_000 })

    expect(childAt(runner, 60, { orders: [child] })).toBeUndefined()
    expect(childAt(runner, 61, { fillsReadAt: MOMENT_AT })).toBeUndefined()
    expect(childAt(runner, 62, { netLots: 10 })).toMatchObject({
      key: 'twap:one:BTCUSDT:1',
      lots: 10,
    })
  })

  it('goes on after a restart where it was, and begins anew under another name', () => {
    const before = createExample(twap, PARAMS)
    childAt(before, 0)

    const { stateText } = before

    expect(childAt(createExample(twap, PARAMS, { stateText }), 120, { netLots: 10 })).toMatchObject(
      {
        lots: 20,
      },
    )
    const other = createExample(twap, { ...PARAMS, parent: 'two', side: 'sell' }, { stateText })
    expect(childAt(other, 120, { netLots: 10 })).toMatchObject({
      key: 'twap:two:BTCUSDT:0',
      action: 'openShort',
      lots: 10,
      ticks: 9999,
    })
  })

  it('objects to slots longer than the whole time, and to a size that no order can have', () => {
    expect(twap.params.safeParse({ ...PARAMS, everySeconds: 601 }).error?.issues).toMatchObject([
      { path: ['everySeconds'], message: 'everySeconds must not be above the whole time' },
    ])
    const instruments = [madeInstrument({ lotsMin: 101 })]
    expect(checkBinding({ strategy: twap, params: PARAMS, instruments })).toHaveLength(1)
  })
})
