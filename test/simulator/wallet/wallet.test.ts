import { describe, expect, test } from 'vitest'
import { decimal } from '../../../src/lib/decimal.ts'
import { createRandom } from '../../../src/lib/random.ts'
import {
  createOrderSequence,
  serviceIdText,
  isIdBefore,
} from '../../../src/simulator/shared/order-sequence.ts'
import { type CoinRef } from '../../../src/simulator/wallet/coin-money.ts'
import { Wallet } from '../../../src/simulator/wallet/wallet.ts'
import { StoredRows } from '../../../src/simulator/store/stored-rows.ts'
import { createRestarts } from '../futures/memory-store.ts'

const spot: CoinRef = { uid: '1', balance: 'spot', coin: 'USDT' }
const isolated: CoinRef = { uid: '1', balance: 'isolated:BTCUSDT', coin: 'USDT' }

describe('the wallet', () => {
  test('books each amount on both sides', () => {
    const wallet = new Wallet(new StoredRows())

    wallet.book(spot, 'opening', decimal('100'))
    wallet.book(spot, 'fee', decimal('-0.000000001'))

    expect(wallet.coin(spot).available.toString()).toBe('99.999999999')
    expect(wallet.sums()).toEqual([{ coin: 'USDT', sum: '0' }])
    expect(wallet.statement('1')[0]?.bookings).toEqual({ opening: '100', fee: '-0.000000001' })
  })

  test('keeps the equity of who borrows, and takes interest from it', () => {
    const wallet = new Wallet(new StoredRows())
    wallet.book(spot, 'opening', decimal('100'))
    wallet.transfer(spot, isolated, decimal('40'))

    wallet.borrow(isolated, decimal('60'))
    wallet.accrueInterest(isolated, decimal('0.5'))
    wallet.repay(isolated, { principal: decimal('20'), interest: decimal('0.5') })

    const row = wallet.statement('1').find(({ balance }) => balance === 'isolated:BTCUSDT')
    expect(row).toMatchObject({ available: '79.5', borrowed: '40', interest: '0', equity: '39.5' })
    expect(wallet.sums()).toEqual([{ coin: 'USDT', sum: '0' }])
    expect(wallet.unexplained()).toEqual([])
  })

  test('refuses to take any column below zero, and changes nothing then', () => {
    const wallet = new Wallet(new StoredRows())
    wallet.book(spot, 'opening', decimal('1'))

    expect(() => wallet.freeze(spot, decimal('1.01'))).toThrow('SIMULATOR_WALLET_SHORT')
    expect(() => wallet.repay(spot, { principal: decimal('1'), interest: decimal('0') })).toThrow(
      'borrowed',
    )

    expect(wallet.coin(spot).available.toString()).toBe('1')
    expect(wallet.coin(spot).frozen.toString()).toBe('0')
  })

  test('gives an older answer no new numbers', () => {
    const wallet = new Wallet(new StoredRows())
    const before = wallet.coin(spot)

    wallet.book(spot, 'deposit', decimal('5'))

    expect(before.available.toString()).toBe('0')
    expect(wallet.coins('1', 'spot').get('USDT')?.available.toString()).toBe('5')
  })

  test.each([1, 2, 3])(
    'conserves money over a random session, also across restarts, seed %i',
    (seed) => {
      const restart = createRestarts()
      const random = createRandom(seed)
      let wallet = new Wallet(restart())
      const refs = ['1', '2'].flatMap((uid) =>
        (['spot', 'crossed', 'isolated:ETHUSDT'] as const).map((balance) => ({
          uid,
          balance,
          coin: 'USDT',
        })),
      )
      for (const ref of refs) wallet.book(ref, 'opening', decimal('1000.123456789'))

      for (let step = 0; step < 500; step++) {
        if (step % 100 === 0) wallet = new Wallet(restart())
        actAtRandom(wallet, refs, random)
      }

      expect(wallet.sums()).toEqual([{ coin: 'USDT', sum: '0' }])
      expect(wallet.unexplained()).toEqual([])
      expect(new Wallet(restart()).statement('1')).toEqual(wallet.statement('1'))
    },
  )
})

describe('order ids', () => {
  test('go on after a restart', () => {
    const restart = createRestarts()
    const first = createOrderSequence(restart()).next()

    expect(createOrderSequence(restart()).next()).toBe(first + 1)
  })

  test('compare as numbers, whatever their length', () => {
    expect(isIdBefore(serviceIdText(9), serviceIdText(10))).toBe(true)
    expect(isIdBefore(serviceIdText(9), '99999999999999999999')).toBe(true)
    expect(isIdBefore(serviceIdText(9), '12')).toBe(false)
  })
})

/** One booking of any kind; what is refused as too much counts as none. */
function actAtRandom(
  wallet: Wallet,
  refs: readonly CoinRef[],
  random: ReturnType<typeof createRandom>,
): void {
  const amount = decimal((random.next() * 100).toFixed(9))
  const [ref, other] = [refs[random.integer(refs.length)], refs[random.integer(refs.length)]]
  if (ref === undefined || other === undefined) return
  const actions = [
    () => wallet.book(ref, 'trade', amount),
    () => wallet.book(ref, 'trade', amount.times('-1'), 'frozen'),
    () => wallet.book(ref, 'fee', amount.times('-0.002')),
    () => wallet.freeze(ref, amount),
    () => wallet.unfreeze(ref, amount),
    () => wallet.transfer(ref, other, amount),
    () => wallet.borrow(ref, amount),
    () => wallet.accrueInterest(ref, amount.times('0.01')),
    () => wallet.repay(ref, { principal: amount, interest: decimal('0') }),
    () => wallet.book(ref, 'insurance', amount),
  ]
  try {
    actions[random.integer(actions.length)]?.()
  } catch (error) {
    if (!String(error).includes('SIMULATOR_WALLET_SHORT')) throw error
  }
}
