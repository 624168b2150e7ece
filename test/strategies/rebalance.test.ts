import { describe, expect, it } from 'vitest'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import rebalance from '../../strategies/rebalance.ts'
import { holdingOf, madeInstrument, madeSnapshot } from '../support/market-moment.ts'
import { createExample, decide } from './decide-on.ts'

const ETHUSDT = madeInstrument({ symbol: 'ETHUSDT' })
const INSTRUMENTS = [madeInstrument(), ETHUSDT]
const PARAMS = { shares: { BTCUSDT: 0.5, ETHUSDT: -0.25 }, band: 0.05 }

/** Of an account of 1000 at prices of 1000 and 100: what is wanted while so many lots are held. */
function wantedWith(btcLots: number, ethLots: number, capital = '1000') {
  const snapshot = madeSnapshot([
    { bid: 999, ask: 1001, holding: holdingOf(btcLots) },
    { instrument: ETHUSDT, bid: 99, ask: 101, holding: holdingOf(ethLots) },
  ])
  const equity = capital === 'unknown' ? undefined : Number(capital)
  const account = { ...snapshot.account, equity }
  const runner = createExample(rebalance, PARAMS, { instruments: INSTRUMENTS })
  return decide(runner, { ...snapshot, account }).map((intent) =>
    intent.kind === 'target' ? `${intent.symbol} ${intent.lots}` : intent.kind,
  )
}

describe('the rebalance', () => {
  it('takes each instrument to its share of equity, short too', () => {
    expect(wantedWith(0, 0)).toEqual(['BTCUSDT 500', 'ETHUSDT -2500'])
    expect(wantedWith(0, 0, '2000')).toEqual(['BTCUSDT 1000', 'ETHUSDT -5000'])
  })

  it('does nothing within the band, and goes to the share itself outside of it', () => {
    expect(wantedWith(549, -2500)).toEqual([])
    expect(wantedWith(551, -2500)).toEqual(['BTCUSDT 500'])
    expect(wantedWith(500, -1900)).toEqual(['ETHUSDT -2500'])
  })

  it('says nothing while equity is not known, or nothing is left', () => {
    expect(wantedWith(0, 0, 'unknown')).toEqual([])
    expect(wantedWith(0, 0, '0')).toEqual([])
  })

  it('objects to instruments without a share, and to shares without an instrument', () => {
    const params = { shares: { BTCUSDT: 0.5, SOLUSDT: 0.1 } }

    expect(checkBinding({ strategy: rebalance, params, instruments: INSTRUMENTS })).toEqual([
      'shares has no share for ETHUSDT',
      'shares names SOLUSDT, which is no instrument of it',
    ])
  })
})
