import { describe, expect, test } from 'vitest'
import { ONE } from '../wallet/service-bench.ts'
import { openSpotBench, type SpotBench } from './spot-bench.ts'

describe('the fee of a spot order', () => {
  test('is taken out of the coin obtained, to the last digit', () => {
    const bench = openSpotBench()
    const before = bench.wallet.coin({ uid: ONE.uid, balance: 'spot', coin: 'BTC' }).available

    const orderId = bench.place({ price: '65500', size: '0.012345' })

    const after = bench.wallet.coin({ uid: ONE.uid, balance: 'spot', coin: 'BTC' }).available
    expect(after.minus(before).toString()).toBe('0.01232031')
    expect(bench.order(orderId)['feeDetail']).toBe(
      '{"newFees":{"c":0,"d":0,"deduction":false,"r":-0.00002469,"t":-0.00002469,"totalDeductionFee":0}}',
    )
  })

  test('stands in the detail under the coin too, in the order of the samples', () => {
    const bench = openSpotBench()
    const buy = bench.place({ price: '65500', size: '0.01' })
    const sell = bench.place({ side: 'sell', price: '64500', size: '0.01' })

    expect(detailFees(bench, buy)).toBe(
      '{"BTC":{"deduction":false,"feeCoinCode":"BTC","totalDeductionFee":0,"totalFee":-0.00002},' +
        '"newFees":{"c":0,"d":0,"deduction":false,"r":-0.00002,"t":-0.00002,"totalDeductionFee":0}}',
    )
    expect(detailFees(bench, sell)).toMatch(/^\{"newFees":\{.*\},"USDT":\{.*\}\}$/)
  })

  test('is paid in the platform’s own coin where that is switched on', () => {
    const bench = openSpotBench({ deductsFees: true })
    const before = Number(bench.money('HOUSE').available)

    const orderId = bench.place({ price: '65500', size: '0.01' })

    const fees = readFees(bench, orderId)
    expect(fees).toMatchObject({ r: 0, t: -0.00002 })
    expect(Number(bench.money('HOUSE').available) - before).toBeCloseTo(fees['d'] ?? 0, 8)
    // 0.00002 BTC of 65000.1, less 20 %, at about 1.25 USDT.
    expect(fees['d']).toBeCloseTo(-0.83, 1)
  })

  test('is paid by the obtained coin as far as the platform’s own does not suffice', () => {
    const bench = openSpotBench({ deductsFees: true, platformOpening: '0.4' })

    const orderId = bench.place({ price: '65500', size: '0.01' })

    const fees = readFees(bench, orderId)
    expect(fees['d']).toBe(-0.4)
    expect(fees['r']).toBeLessThan(0)
    expect(fees['r']).toBeGreaterThan(-0.00002)
    expect(bench.money('HOUSE').available).toBe('0')
  })

  test('is an empty text while nothing is filled', () => {
    const bench = openSpotBench()

    expect(bench.order(bench.place({}))).toMatchObject({ feeDetail: '', priceAvg: '' })
  })
})

function detailFees(bench: SpotBench, orderId: string): string | null | undefined {
  const reply = bench.service.answer('spotOrderInfo', ONE, { orderId }, bench.now)
  return reply.ok && Array.isArray(reply.data) ? reply.data[0]?.feeDetail : undefined
}

function readFees(bench: SpotBench, orderId: string): Record<string, number> {
  const text = String(bench.order(orderId)['feeDetail'])
  return (JSON.parse(text) as { newFees: Record<string, number> }).newFees
}
