import { expect, test } from 'vitest'
import { money } from '../../src/cli/process/table.ts'
import { describeFall } from '../../src/views/summary-text.ts'
import { coinDigits, groupThousands, showCoin } from '../../src/domain/coin-amount.ts'

const PAGE = new URL('../../src/dashboard/page/format.js', import.meta.url).href

test('an amount has two digits in a coin of money, and eight in one that is worth more, wherever it is shown', async () => {
  const page = (await import(PAGE)) as { money: (value: number, coin: string) => string }
  const coins = ['USDT', 'USDC', 'USD', 'SUSDT', 'SUSDC', 'EUR', 'BTC', 'ETH', 'SBTC', 'XRP']

  const digits = coins.map((coin) => [coin, coinDigits(coin)])
  expect(Object.fromEntries(digits)).toMatchObject({
    USDT: 2,
    SUSDC: 2,
    EUR: 2,
    BTC: 8,
    ETH: 8,
    SBTC: 8,
  })
  for (const coin of coins) {
    expect(page.money(1234.001_234_56, coin)).toBe(money('1234.00123456', coin))
    for (const amount of [0.001_234_56, 999.5, -1234.5, 12_345_678.25])
      expect(showCoin(amount, coin)).toBe(money(String(amount), coin))
  }
})

test('thousands are grouped before the point alone', () => {
  const shown = ['0', '999', '1000', '-1234567.12345678', '0.0000001234'].map(groupThousands)
  expect(shown).toEqual(['0', '999', '1,000', '-1,234,567.12345678', '0.0000001234'])
})

test('a small profit in bitcoin is not nothing, and half of the last digit is', () => {
  expect(money('0.00012345', 'BTC')).toBe('0.00012345')
  expect(money('-0.000000004', 'BTC')).toBe('0.00000000')
  expect([showCoin(-0.000_000_004, 'BTC'), showCoin(-0.004, 'USDT')]).toEqual([
    '0.00000000',
    '0.00',
  ])
  expect(describeFall({ equity: 1.5, peak: 1.5004, drawdown: 0.0004 }, 'BTC')).toBe(
    '0.00040000 below its peak of 1.50040000',
  )
  expect(describeFall({ equity: 1.5, peak: 1.5004, drawdown: 0.0004 }, 'USDT')).toBe(
    'at its peak of 1.50',
  )
})
