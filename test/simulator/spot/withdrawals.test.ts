import { addressesOf, contactOf } from '../../../src/simulator/spot/address-book.ts'
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../src/lib/decimal.ts'
import { endpoints, type WireRequestOf } from '../../../src/protocol/endpoints.ts'
import { ONE, TWO } from '../wallet/service-bench.ts'
import { openSpotBench, type SpotBench } from './spot-bench.ts'

type Request = WireRequestOf<'spotWithdrawal'>

describe('a withdrawal on chain', () => {
  test('takes the size, of which the fee stays with the exchange', () => {
    const bench = openSpotBench()
    const before = balance(bench, ONE.uid)

    const reply = bench.service.answer(
      'spotWithdrawal',
      ONE,
      { ...onChain(), clientOid: 'w-1' },
      bench.now,
    )

    expect(reply).toMatchObject({ ok: true, data: { clientOid: 'w-1' } })
    expect(before.minus(balance(bench, ONE.uid)).toString()).toBe('100')
    expect(bench.wallet.sums().every(({ sum }) => sum === '0')).toBe(true)
    expect(bench.service.state.withdrawals.of(ONE.uid).at(-1)).toMatchObject({
      size: '100',
      fee: '1',
      chain: 'TRC20',
    })
    expect(endpoints.spotWithdrawal.response.parse(reply.ok && reply.data)).toBeDefined()
  })

  test.each([
    ['11000', 'an address that is not in the book', { address: 'Tunknown' }],
    ['11000', 'a tag that the book does not have', { tag: '7' }],
    ['11000', 'an address of another chain', { chain: 'ERC20' }],
    ['13002', 'a coin that is unknown', { coin: 'DOGE' }],
    ['43126', 'a coin without a chain', { coin: 'HOUSE' }],
    ['40020', 'a chain that the coin does not have', { chain: 'solana' }],
    ['40019', 'no chain', { chain: '' }],
    ['40808', 'too many decimals', { size: '100.000000001' }],
    ['43114', 'less than the minimum', { size: '9.99' }],
    ['43012', 'more than is available', { size: '60000' }],
  ])('is refused with %s for %s', (code, _title, change) => {
    const bench = openSpotBench()
    const before = balance(bench, ONE.uid)

    const reply = bench.service.answer(
      'spotWithdrawal',
      ONE,
      { ...onChain(), ...change },
      bench.now,
    )

    expect(reply).toMatchObject({ ok: false, code })
    expect(balance(bench, ONE.uid)).toEqual(before)
  })

  test('with a clientOid that was used is refused, also after a restart', () => {
    const bench = openSpotBench()
    const request = { ...onChain(), clientOid: 'w-1' }
    bench.service.answer('spotWithdrawal', ONE, request, bench.now)
    const after = balance(bench, ONE.uid)
    bench.restart()

    expect(bench.service.answer('spotWithdrawal', ONE, request, bench.now)).toMatchObject({
      ok: false,
      code: '43118',
    })
    expect(balance(bench, ONE.uid)).toEqual(after)
  })

  test('cannot take what an open order has set aside', () => {
    const bench = openSpotBench()
    bench.place({ price: '64000', size: '0.7' })

    const reply = bench.service.answer(
      'spotWithdrawal',
      ONE,
      { ...onChain(), size: '6000' },
      bench.now,
    )

    expect(reply).toMatchObject({ ok: false, code: '43012' })
  })
})

describe('an internal transfer', () => {
  const { email, mobile, areaCode } = contactOf(TWO.uid)

  test.each([
    ['uid by default', { address: TWO.uid }],
    ['e-mail', { address: email, innerToType: 'email' as const }],
    ['mobile number', { address: mobile, innerToType: 'mobile' as const, areaCode }],
  ])('reaches the other account by its %s, free of charge', (_title, to) => {
    const bench = openSpotBench()
    const before = [balance(bench, ONE.uid), balance(bench, TWO.uid)]

    const request = {
      coin: 'USDT',
      size: '12.5',
      transferType: 'internal_transfer',
      ...to,
    } as const
    expect(bench.service.answer('spotWithdrawal', ONE, request, bench.now)).toMatchObject({
      ok: true,
    })

    const after = [balance(bench, ONE.uid), balance(bench, TWO.uid)]
    expect(after.map((now, index) => now.minus(before[index] ?? '0').toString())).toEqual([
      '-12.5',
      '12.5',
    ])
  })

  test.each([
    ['11000', 'to nobody', { address: '42' }],
    ['43121', 'to itself', { address: ONE.uid }],
    [
      '40019',
      'to a mobile number without its area code',
      { address: mobile, innerToType: 'mobile' as const },
    ],
    [
      '11000',
      'with a wrong area code',
      { address: mobile, innerToType: 'mobile' as const, areaCode: '99' },
    ],
    ['40808', 'with too many decimals', { address: TWO.uid, size: '1.000000001' }],
  ])('is refused with %s %s', (code, _title, change) => {
    const bench = openSpotBench()
    const request: Request = {
      coin: 'USDT',
      size: '1',
      transferType: 'internal_transfer',
      ...change,
    }

    expect(bench.service.answer('spotWithdrawal', ONE, request, bench.now)).toMatchObject({
      ok: false,
      code,
    })
  })
})

function onChain(): Request {
  const address = addressesOf(ONE.uid).find(({ chain }) => chain === 'TRC20')?.address ?? ''
  return { coin: 'USDT', transferType: 'on_chain', chain: 'trc20', address, size: '100' }
}

function balance({ wallet }: SpotBench, uid: string) {
  const { available, frozen } = wallet.coin({ uid, balance: 'spot', coin: 'USDT' })
  return decimal(available.plus(frozen).toString())
}
