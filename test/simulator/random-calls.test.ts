import { expect, test } from 'vitest'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'
import { servedNames } from '../../src/simulator/wire/served-rows.ts'
import { ACCOUNTS, ExchangeBench } from './exchange-bench.ts'
import { makeRandomCalls } from './random-calls.ts'
import { shareOf } from '../support/share.ts'
import { createMemoryStore } from './futures/memory-store.ts'

/** Every statement by itself: what an account has is what was booked. */
function unexplained(bench: ExchangeBench): string[] {
  return ACCOUNTS.flatMap(({ uid }) => {
    const { coins, balances } = bench.exchange.ledger(uid)
    const futures = coins.filter(({ balance, ...row }) => {
      const { opening, deposits, realisedProfit, fees, funding, insurance } = row
      const sum = sumDecimals([opening, deposits, realisedProfit, funding, insurance].map(decimal))
      return !sum.minus(decimal(fees)).eq(decimal(balance))
    })
    const others = balances.filter(
      ({ equity, bookings }) =>
        !sumDecimals(Object.values(bookings).map(decimal)).eq(decimal(equity)),
    )
    return [
      ...futures.map(({ marginCoin }) => marginCoin),
      ...others.map(({ balance, coin }) => `${balance} ${coin}`),
    ]
  })
}

test('thousands of valid calls of several accounts: each answer fits its row, and all books add up', async () => {
  const succeeded = new Set<string>()
  for (const seed of shareOf([11, 12], 2)) {
    const bench = await ExchangeBench.open({ seed: String(seed), demoPast: true })

    const { outcomes, unreadable } = makeRandomCalls(bench, seed, 5000)

    expect(unreadable).toEqual([])
    expect(bench.events.filter(({ kind }) => kind === 'handlerFailed')).toEqual([])
    expect(bench.exchange.imbalances()).toEqual([])
    expect(unexplained(bench)).toEqual([])
    for (const name of servedNames) if (outcomes.has(`${name} 00000`)) succeeded.add(name)
  }
  // A row that nothing succeeds at was not tested.
  expect(servedNames.filter((name) => !succeeded.has(name))).toEqual([])
})

test('killed at any moment and loaded from its store, the exchange has what it had', async () => {
  const store = createMemoryStore()
  let bench = await ExchangeBench.open({ store, demoPast: true })

  for (let seed = 1; seed <= 6; seed++) {
    makeRandomCalls(bench, seed, 120)
    bench.wait(0)
    const before = ACCOUNTS.map(({ uid }) => bench.exchange.ledger(uid))
    bench = await ExchangeBench.open({ store, now: bench.now, demoPast: true })
    const after = ACCOUNTS.map(({ uid }) => bench.exchange.ledger(uid))

    expect(
      after.map(({ coins, balances, openOrders, services }) => ({
        coins,
        balances,
        openOrders,
        services,
      })),
    ).toEqual(
      before.map(({ coins, balances, openOrders, services }) => ({
        coins,
        balances,
        openOrders,
        services,
      })),
    )
    expect(bench.exchange.imbalances()).toEqual([])
  }
})

test('the same seed and the same calls give the same answers', async () => {
  const run = async () => {
    const bench = await ExchangeBench.open({ seed: 'same' })
    const { outcomes } = makeRandomCalls(bench, 5, 400)
    return JSON.stringify([[...outcomes], ACCOUNTS.map(({ uid }) => bench.exchange.ledger(uid))])
  }

  expect(await run()).toBe(await run())
})
