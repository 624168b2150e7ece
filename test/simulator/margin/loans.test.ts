import { describe, expect, test } from 'vitest'
import { dataOf, HOUR_MS, MarginBench, refusalOf } from './margin-bench.ts'

describe.each(['isolated', 'crossed'] as const)('%s loans', (mode) => {
  const loan = (coin: string, amount: string) => ({ mode, symbol: 'BTCUSDT', coin, amount })

  test('an autoLoan order borrows what is missing, and no more', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '4000')

    bench.place(mode, { price: '59000', baseSize: '0.1', loanType: 'autoLoan' })

    expect(bench.coin(mode, 'USDT')).toEqual({
      available: '0',
      frozen: '5900',
      borrowed: '1900',
      interest: '0',
    })
  })

  test('an autoLoan order spends own money first, and what it did not use of the loan goes back', () => {
    const bench = new MarginBench({
      prices: { BTCUSDT: { bid: '49999', ask: '50000', last: '50000' } },
    })
    bench.deposit(mode, 'USDT', '30000')

    // One coin is displayed at the ask: 50000 of 60000 are spent, 20000 of them borrowed.
    const order = { price: '50000', baseSize: '1.2', force: 'ioc', loanType: 'autoLoan' } as const
    const id = bench.place(mode, order)

    expect(bench.order(id)).toMatchObject({ status: 'cancelled', size: '1' })
    expect(bench.coin(mode, 'USDT')).toEqual({
      available: '0',
      frozen: '0',
      borrowed: '20000',
      interest: '0',
    })
    expect(bench.defects()).toEqual([])
  })

  test('a normal order borrows nothing and is refused', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '4000')

    expect(refusalOf(bench.tryPlace(mode, { price: '59000', baseSize: '0.1' }))).toBe(
      '50020 Insufficient balance',
    )
  })

  test('an autoRepay order pays interest, then principal, out of what it gets', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'BTC', '1')
    dataOf(bench.borrow(loan('USDT', '10000')))
    bench.place(mode, { orderType: 'market', quoteSize: '10000' })
    bench.wait(2 * HOUR_MS)
    expect(bench.coin(mode, 'USDT')).toMatchObject({ borrowed: '10000', interest: '0.2' })

    bench.place(mode, { side: 'sell', orderType: 'market', baseSize: '0.1', loanType: 'autoRepay' })

    // 6000 less the fee of 6: 0.2 of interest first. What the purchase left over is not touched.
    expect(bench.coin(mode, 'USDT')).toMatchObject({ borrowed: '4006.2', interest: '0' })
    expect(bench.defects()).toEqual([])
  })

  test('an order that borrows beyond the leverage is refused whole', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '100')
    const most = mode === 'isolated' ? '999' : '299'
    const tooMuch = mode === 'isolated' ? '1001' : '301'
    const order = { orderType: 'market', loanType: 'autoLoan' } as const

    expect(refusalOf(bench.tryPlace(mode, { ...order, quoteSize: tooMuch }))).toBe(
      '50035 The maximum borrowing amount is exceeded',
    )
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '100', borrowed: '0' })
    expect(bench.tryPlace(mode, { ...order, quoteSize: most }).ok).toBe(true)
  })

  test('interest falls due at every full hour, on the principal alone', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '5000')
    dataOf(bench.borrow(loan('USDT', '1234.5')))

    bench.wait(HOUR_MS - 1)
    expect(bench.coin(mode, 'USDT').interest).toBe('0')
    bench.wait(1)
    expect(bench.coin(mode, 'USDT').interest).toBe('0.012345')
    bench.wait(HOUR_MS)
    expect(bench.coin(mode, 'USDT').interest).toBe('0.02469')
  })

  test('hours that pass at once cost what they cost one by one', () => {
    const slow = new MarginBench()
    const quick = new MarginBench()
    for (const bench of [slow, quick]) {
      bench.deposit(mode, 'BTC', '1')
      dataOf(bench.borrow(loan('BTC', '0.1234567')))
    }

    for (let hour = 0; hour < 50; hour++) slow.wait(HOUR_MS)
    quick.wait(50 * HOUR_MS)

    expect(quick.coin(mode, 'BTC')).toEqual(slow.coin(mode, 'BTC'))
    // 0.1234567 x 0.000005 an hour, rounded up to eight places.
    expect(quick.coin(mode, 'BTC').interest).toBe('0.000031')
  })

  test('repaying pays interest first, and never more than is owed', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '5000')
    dataOf(bench.borrow(loan('USDT', '1000')))
    bench.wait(HOUR_MS)

    expect(bench.repay(loan('USDT', '0.005'))).toBe('0.005')
    expect(bench.coin(mode, 'USDT')).toMatchObject({ borrowed: '1000', interest: '0.005' })
    expect(bench.repay(loan('USDT', '3000'))).toBe('1000.005')
    expect(bench.coin(mode, 'USDT')).toMatchObject({
      available: '4999.99',
      borrowed: '0',
      interest: '0',
    })
    expect(bench.defects()).toEqual([])
  })

  test.each([
    ['a coin that is not lent', loan('XRP', '1'), '50032 The currency does not exist'],
    [
      'too little',
      loan('USDT', '0.000000009'),
      '50034 The borrowing amount must be over 0.00000001',
    ],
    ['beyond the cap', loan('USDT', '2000001'), '50035 The maximum borrowing amount is exceeded'],
  ])('borrowing %s is refused', (_, request, refusal) => {
    const bench = new MarginBench()
    bench.deposit(mode, 'BTC', '1000')

    expect(refusalOf(bench.borrow(request))).toBe(refusal)
  })
})

test('an isolated balance borrows the coins of its pair alone', () => {
  const bench = new MarginBench()
  bench.deposit('isolated', 'USDT', '1000')
  const request = { mode: 'isolated', symbol: 'BTCUSDT', coin: 'ETH', amount: '0.1' } as const

  expect(refusalOf(bench.borrow(request))).toBe(
    '50039 The currency and the trading pair do not match',
  )
})
