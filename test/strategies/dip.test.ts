import { describe, expect, it } from 'vitest'
import { runSeries } from 'intentd/testing'
import dip from '../../strategies/dip.ts'

/** Falls for a while, then stands, then rises. */
function pricesOf(falling: number, standing: number, rising: number): readonly number[] {
  let price = 60_000
  const move = (change: number) => () => (price += change)
  return [
    ...Array.from({ length: 100 }, (_, index) => (price += index % 2 === 0 ? 10 : -10)),
    ...Array.from({ length: falling }, move(-60)),
    ...Array.from({ length: standing }, (_, index) => (price += index % 2 === 0 ? 10 : -10)),
    ...Array.from({ length: rising }, move(60)),
  ]
}

function wantedOver(prices: readonly number[], options: { readonly equity?: number } = {}) {
  return runSeries({
    strategy: dip,
    params: { interval: '1m', period: 4, lotsMax: 40 },
    prices,
    equity: 10_000,
    ...options,
  }).flatMap(({ intents }) =>
    intents.map((intent) => (intent.kind === 'target' ? intent.lots : Number.NaN)),
  )
}

describe('the dip', () => {
  it('buys once when prices have fallen, keeps that, and sells when they have risen', () => {
    const wanted = wantedOver(pricesOf(20, 20, 30))
    // 0.5 % of 10,000 over 2 % of 60,000: 0.04 BTC.
    const changes = wanted.filter((lots, index) => lots !== wanted[index - 1])
    expect(changes).toEqual([0, 40, 0])
  })

  it('wants nothing while the equity is too small for an order', () => {
    expect(new Set(wantedOver(pricesOf(20, 0, 0), { equity: 10 }))).toEqual(new Set([0]))
  })

  it('is silent before its index has a value', () => {
    expect(wantedOver(pricesOf(0, 0, 0).slice(0, 60))).toEqual([])
  })

  it('refuses an index that buys above the one that sells', () => {
    expect(dip.params.safeParse({ buyBelow: 60 }).success).toBe(false)
  })
})
