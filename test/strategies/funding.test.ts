import { describe, expect, it } from 'vitest'
import { runSeries } from 'intentd/testing'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import funding from '../../strategies/funding.ts'
import { madeInstrument } from '../support/market-moment.ts'

const PARAMS = { size: '0.04', rateMin: 0.0001, rateFull: 0.001, minutesBefore: 60 }

/** Wanted lots by minute after midnight, at a rate that stands still; payments are at 0, 8 and 16 h. */
function wantedAt(fundingRate: number, minute: number, params: object = {}) {
  const decisions = runSeries({
    strategy: funding,
    params: {
      ...PARAMS,
      ...params,
    },
    columns: { fundingRate },
    prices: Array.from({ length: 490 }, () => 6e4),
  })
  const decision = decisions.find(({ at }) => at === Date.UTC(2024, 0, 1) + minute * 60_000)
  return decision?.intents.map((intent) => (intent.kind === 'target' ? intent.lots : intent.kind))
}

describe('the funding tilt', () => {
  it('is short while longs pay and long while shorts pay', () => {
    expect(wantedAt(0.001, 430)).toEqual([-40])
    expect(wantedAt(-0.001, 430)).toEqual([40])
  })

  it('holds the more the larger the rate, in quarters, and never more than the size', () => {
    const rates = [0.0001, 0.00025, 0.00026, 0.0007, 0.00076, 0.05]

    expect(rates.map((rate) => wantedAt(rate, 430)?.[0])).toEqual([-10, -10, -20, -30, -40, -40])
  })

  it('is flat below the least rate', () => {
    expect(wantedAt(0.00009, 430)).toEqual([0])
    expect(wantedAt(0, 430, { rateMin: 0 })).toEqual([0])
  })

  it('is flat until an hour before the payment, and after it', () => {
    expect([419, 420, 479, 480].map((minute) => wantedAt(0.001, minute)?.[0])).toEqual([
      0, -40, -40, 0,
    ])
  })

  it('says nothing while the rate is not known', () => {
    expect(wantedAt(Number.NaN, 430)).toEqual([])
  })

  it('objects to a size of which a quarter is no order', () => {
    const instruments = [madeInstrument({ lotsMin: 11 })]

    expect(checkBinding({ strategy: funding, params: PARAMS, instruments })).toEqual([
      'a quarter of size 0.04 is below the smallest order of BTCUSDT',
    ])
    expect(funding.params.safeParse({ ...PARAMS, rateMin: 0.01 }).error?.issues).toMatchObject([
      { path: ['rateMin'] },
    ])
  })
})
