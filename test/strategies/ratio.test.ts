import { describe, expect, it } from 'vitest'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import { type StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import ratio from '../../strategies/ratio.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'
import { createExample, decide } from './decide-on.ts'

const PARAMS = { size: '0.01', shortAbove: 2, longBelow: 0.5, ageMaxMinutes: 15 }

/** What is wanted at a last ratio, read so many minutes ago. */
function wantedAt(runner: StrategyRunner, last: string | undefined, ageMinutes = 0): unknown {
  const data = last && [
    { ts: '2000', longShortRatio: last },
    { ts: '1000', longShortRatio: '1' },
  ]
  return wantedOf(runner, data, ageMinutes)
}

function wantedOf(runner: StrategyRunner, data: unknown, ageMinutes = 0): unknown {
  const readAt = MOMENT_AT - ageMinutes * 60_000
  const feeds = new Map(data === undefined ? [] : [['BTCUSDT', { data, readAt }]])
  const [target] = decide(runner, { ...madeSnapshot([{ bid: 999, ask: 1000 }]), feeds })
  return target?.kind === 'target' ? target.lots : target
}

describe('against the long/short ratio', () => {
  it('is short while most are long, long while most are short, and flat between', () => {
    const run = (last: string) => wantedAt(createExample(ratio, PARAMS), last)

    expect(['2.5', '2', '1.9', '0.6', '0.5', '0.2'].map(run)).toEqual([-10, -10, 0, 0, 10, 10])
  })

  it('stays until longs and shorts are even', () => {
    const runner = createExample(ratio, PARAMS)

    expect(['2', '1.5', '1.01', '1', '1.5'].map((last) => wantedAt(runner, last))).toEqual([
      -10, -10, -10, 0, 0,
    ])
    expect(['0.4', '0.9', '1'].map((last) => wantedAt(runner, last))).toEqual([10, 10, 0])
  })

  it('says nothing while the feed is missing, old or unreadable, and keeps its side meanwhile', () => {
    const runner = createExample(ratio, PARAMS)
    wantedAt(runner, '2')

    expect(wantedAt(runner, undefined)).toBeUndefined()
    expect(wantedAt(runner, '0.4', 15.1)).toBeUndefined()
    for (const data of [[], {}, 'none', [{ ts: '1' }], [{ ts: '1', longShortRatio: 'x' }]]) {
      expect(wantedOf(runner, data)).toBeUndefined()
    }
    expect(wantedAt(runner, '1.5', 15)).toBe(-10)
  })

  it('goes on after a restart on its side', () => {
    const before = createExample(ratio, PARAMS)
    wantedAt(before, '2')

    expect(wantedAt(createExample(ratio, PARAMS, { stateText: before.stateText }), '1.5')).toBe(-10)
  })

  it('objects to a size that no order can have', () => {
    const instruments = [madeInstrument({ lotsMin: 11 })]

    expect(checkBinding({ strategy: ratio, params: PARAMS, instruments })).toHaveLength(1)
  })
})
