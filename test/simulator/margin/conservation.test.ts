import { marginLedger } from '../../../src/simulator/margin/margin.ts'
import { describe, expect, test } from 'vitest'
import { decimal, ZERO } from '../../../src/lib/decimal.ts'
import { ALICE, HOUR_MS, type MarginBench } from './margin-bench.ts'
import { RandomSession } from './random-session.ts'

describe('over a random session of margin trading', () => {
  test.each([1, 2, 3, 4, 5, 6])('money is conserved and every coin explained, seed %i', (seed) => {
    const session = new RandomSession(seed, { loanTermMs: 200 * HOUR_MS })

    session.run(1500)

    const { bench } = session
    expect(bench.defects()).toEqual([])
    expectFrozenExplained(bench)
    expectMoved(bench)
  })

  test.each([1, 2, 3])(
    'a service that is killed again and again ends like one that is not, seed %i',
    (seed) => {
      const whole = new RandomSession(seed)
      const killed = new RandomSession(seed)

      whole.run(600)
      killed.run(600, { restartEvery: 7 })

      expect(marginLedger(killed.bench.service.state, ALICE.uid)).toEqual(
        marginLedger(whole.bench.service.state, ALICE.uid),
      )
      expect(killed.bench.stored()).toEqual(whole.bench.stored())
    },
  )
})

/** What is frozen of a coin is what its open orders have set aside. */
function expectFrozenExplained(bench: MarginBench): void {
  const frozen = new Map<string, string>()
  for (const { balance, coins } of marginLedger(bench.service.state, ALICE.uid).balances) {
    for (const { coin, frozen: amount } of coins) frozen.set(`${balance} ${coin}`, amount)
  }
  const wanted = new Map<string, ReturnType<typeof decimal>>()
  for (const mode of ['isolated', 'crossed'] as const) {
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
      for (const order of bench.open(mode, symbol)) {
        if (order.enterPointSource === 'SYS') continue
        const rest = decimal(order.baseSize ?? '').minus(decimal(order.size ?? ''))
        const coin = order.side === 'buy' ? 'USDT' : symbol.slice(0, 3)
        const amount = order.side === 'buy' ? rest.times(decimal(order.price ?? '')) : rest
        const key = `${mode === 'crossed' ? 'crossed' : `isolated:${symbol}`} ${coin}`
        wanted.set(key, (wanted.get(key) ?? ZERO).plus(amount))
      }
    }
  }
  for (const [key, amount] of frozen)
    expect([key, amount]).toEqual([key, (wanted.get(key) ?? ZERO).toString()])
}

/** The session did what it is for: fills, loans, interest, liquidations. */
function expectMoved(bench: MarginBench): void {
  const { endedOrders, liquidations } = marginLedger(bench.service.state, ALICE.uid)
  const statuses = new Set(endedOrders.map(({ status }) => status))
  expect([...statuses].toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
    'cancelled',
    'filled',
    'reject',
  ])
  expect(liquidations.isolated + liquidations.crossed).toBeGreaterThan(2)
  const bookings = bench.wallet.statement(ALICE.uid).flatMap((coin) => Object.keys(coin.bookings))
  for (const booking of ['trade', 'fee', 'interest', 'insurance', 'conversion']) {
    expect(bookings).toContain(booking)
  }
}
