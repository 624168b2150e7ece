import { describe, expect, test } from 'vitest'
import { decimal, sumDecimals, ZERO } from '../../../src/lib/decimal.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { type ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { buildSession, openSession, sessionAccounts } from './random-session.ts'
import { shareOf } from '../../support/share.ts'

const readings: readonly Partial<CoreSettings>[] = [
  {},
  {
    idempotency: 'replay',
    hedgeCloseExcess: 'cancelResting',
    matchingLagMs: 700,
    presetTriggerType: 'mark_price',
  },
  {
    idempotency: 'pendingOnly',
    hedgeCloseExcess: 'reject',
    reduceOnlyExcess: 'reject',
    postOnlyCross: 'cancel',
  },
]

describe.each(readings.map((settings, index) => ({ settings, seeds: [index + 1, index + 11] })))(
  'money is conserved to the last digit with $settings',
  ({ settings, seeds }) => {
    test.each(shareOf(seeds, 2))('over a random session of 2500 operations, seed %i', (seed) => {
      const core = openSession({ seed, settings })

      for (const step of buildSession(seed, 2500)) step.run(core)

      expect(core.books().map(({ marginCoin, sum }) => [marginCoin, sum])).toEqual([
        ['USDT', '0'],
        ['BTC', '0'],
      ])
      for (const { uid } of sessionAccounts) expectExplained(core, uid)
      const counts = sessionAccounts.map(({ uid }) => core.ledger(uid).counts)
      expect(counts.every(({ fills }) => fills > 50)).toBe(true)
      expect(counts.some(({ liquidations }) => liquidations > 0)).toBe(true)
    })
  },
)

/** The account's balance, profit, fees and positions follow from its fills. */
function expectExplained(core: ExchangeCore, uid: string): void {
  const ledger = core.ledger(uid)
  const fills = allFills(core, uid)
  expect(fills.length).toBe(ledger.counts.fills)
  for (const coin of ledger.coins) {
    const own = fills.filter(({ feeDetail }) => feeDetail?.[0]?.feeCoin === coin.marginCoin)
    const profits = sumDecimals(own.map(({ profit }) => decimal(profit ?? '')))
    const fees = sumDecimals(own.map(({ feeDetail }) => decimal(feeDetail?.[0]?.totalFee ?? '')))
    expect(profits.toString()).toBe(coin.realisedProfit)
    expect(fees.times('-1').toString()).toBe(coin.fees)
    const explained = decimal(coin.opening)
      .plus(coin.deposits)
      .plus(coin.realisedProfit)
      .minus(coin.fees)
      .plus(coin.funding)
      .plus(coin.insurance)
    expect(explained.toString()).toBe(coin.balance)
    const open = ledger.positions.some(
      ({ symbol }) =>
        (coin.marginCoin === 'BTC') === symbol.startsWith('BTCUSD_') || symbol === 'BTCUSD',
    )
    if (!open) expect(decimal(coin.balance).gte(ZERO)).toBe(true)
  }
  for (const symbol of new Set(fills.map((fill) => fill.symbol))) {
    const signed = sumDecimals(fills.filter((fill) => fill.symbol === symbol).map(signedSize))
    const held = sumDecimals(
      ledger.positions
        .filter((position) => position.symbol === symbol)
        .map(({ size, holdSide }) =>
          holdSide === 'long' ? decimal(size) : decimal(size).times('-1'),
        ),
    )
    expect([symbol, signed.toString()]).toEqual([symbol, held.toString()])
  }
}

/** In hedge mode the wire's side is the position's: closing a long is a buy, and takes away. */
function signedSize({ side, tradeSide, posMode, baseVolume }: WireFill) {
  const closes = posMode === 'hedge_mode' && tradeSide !== 'open'
  return (side === 'buy') === closes ? decimal(baseVolume).times('-1') : decimal(baseVolume)
}

function allFills(core: ExchangeCore, uid: string): WireFill[] {
  return (['USDT-FUTURES', 'COIN-FUTURES'] as const).flatMap((productType) => {
    const fills: WireFill[] = []
    let idLessThan: string | undefined
    for (;;) {
      const page = core.answer(
        'orderFills',
        { uid },
        { productType, ...(idLessThan !== undefined && { idLessThan }) },
        core.now,
      )
      if (!page.ok) throw new Error(page.message)
      fills.push(...page.data.fillList)
      if (page.data.fillList.length < 100) return fills
      idLessThan = page.data.endId ?? undefined
    }
  })
}
