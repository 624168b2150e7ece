import { describe, expect, test } from 'vitest'
import { shareOf } from '../../support/share.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { Bench, limit, market, openAccount } from './bench.ts'

/** While it follows a jump the mark price swings beyond the quotes, by 0.3 % at most. */
const NEAR = 350

describe('an isolated position', () => {
  test('is closed by the system at its liquidation price, and loses no more than its margin', () => {
    const bench = new Bench()
    bench.place('2', [market('buy', '0.5', { tradeSide: 'open' })], { marginMode: 'isolated' })
    bench.place('2', [limit('buy', '0.2', '60500', { tradeSide: 'close' })], {
      marginMode: 'isolated',
    })
    const [position] = bench.positions('2')
    const fees = Number(bench.coin('2').fees)

    bench.settleAt(Math.ceil(Number(position?.liquidationPrice)) + NEAR)
    expect(bench.positions('2')).toHaveLength(1)
    bench.settleAt(Math.floor(Number(position?.liquidationPrice)) - NEAR)

    expect(bench.positions('2')).toEqual([])
    expect(bench.openOrders('2')).toEqual([])
    expect(bench.fills('2').at(-1)).toMatchObject({
      enterPointSource: 'SYS',
      tradeSide: 'burst_close_long',
      side: 'buy',
      tradeScope: 'taker',
    })
    const lost = 10_000 - Number(bench.coin('2').balance) - fees
    expect(lost).toBeGreaterThan(2600)
    expect(lost).toBeLessThanOrEqual(3000.005)
  })

  test('through a gap: the insurance fund pays what the margin cannot', () => {
    const bench = new Bench()
    bench.place('2', [market('sell', '0.5', { tradeSide: 'open' })], { marginMode: 'isolated' })
    const fees = Number(bench.coin('2').fees)

    bench.settleAt(70_000)

    const coin = bench.coin('2')
    expect(bench.fills('2').at(-1)).toMatchObject({ tradeSide: 'burst_close_short', side: 'sell' })
    expect(Number(coin.insurance)).toBeGreaterThan(1500)
    expect(Number(coin.balance)).toBeCloseTo(10_000 - fees - 3000, 6)
    expect(bench.core.books()[0]?.sum).toBe('0')
  })
})

describe('crossed positions', () => {
  test('stand on the whole balance, and end together with their open orders', () => {
    const bench = new Bench({}, [openAccount('1', 'one_way_mode', { balances: { USDT: '3500' } })])
    bench.place('1', [market('buy', '0.5')])
    bench.place('1', [limit('buy', '0.001', '59500')])
    const [position] = bench.positions('1')
    const price = Number(position?.liquidationPrice)

    expect(price).toBeGreaterThan(52_000)
    expect(price).toBeLessThan(54_000)
    bench.settleAt(Math.ceil(price) + NEAR)
    expect(bench.positions('1')).toHaveLength(1)
    bench.settleAt(Math.floor(price) - NEAR)

    expect(bench.positions('1')).toEqual([])
    expect(bench.core.ledger('1').counts).toMatchObject({ liquidations: 1, ordersOpen: 0 })
    expect(bench.fills('1').at(-1)).toMatchObject({
      enterPointSource: 'SYS',
      tradeSide: 'burst_close_long',
      side: 'sell',
    })
  })

  test('never leave a debt: through a gap the balance ends at zero', () => {
    const bench = new Bench({}, [openAccount('1', 'one_way_mode', { balances: { USDT: '3500' } })])
    bench.place('1', [market('buy', '0.5')])

    bench.settleAt(45_000)

    expect(bench.coin('1').balance).toBe('0')
    expect(Number(bench.coin('1').insurance)).toBeGreaterThan(3000)
  })

  test('have a margin ratio that reaches 1 at the liquidation price', () => {
    const bench = new Bench({}, [openAccount('1', 'one_way_mode', { balances: { BTC: '0.1' } })])
    bench.place('1', [market('sell', '0.5')], { symbol: 'BTCUSD' })
    const price = Number(bench.positions('1', 'BTCUSD')[0]?.liquidationPrice)

    bench.settleAt(Math.floor(price) - NEAR, 'BTCUSD')

    expect(Number(bench.positions('1', 'BTCUSD')[0]?.marginRatio)).toBeGreaterThan(0.4)
    expect(Number(bench.positions('1', 'BTCUSD')[0]?.marginRatio)).toBeLessThan(1)
    bench.settleAt(Math.ceil(price) + NEAR, 'BTCUSD')
    expect(bench.positions('1', 'BTCUSD')).toEqual([])
  })
})

describe('a large position', () => {
  /** 20 BTC at 60,000: 1.2 million, in the second tier, at 100 times its margin. */
  function openLarge(): Bench {
    const account = openAccount('2', 'hedge_mode', { balances: { USDT: '20000' }, leverage: 125 })
    const bench = new Bench({}, [account])
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 30 })
    bench.place('2', [market('buy', '20', { tradeSide: 'open' })], { marginMode: 'isolated' })
    return bench
  }

  test('is reduced to the tier below first, and then closed', () => {
    const bench = openLarge()
    const price = Number(bench.positions('2')[0]?.liquidationPrice)

    bench.settleAt(Math.floor(price) - 250)

    const sides = bench.fills('2').map(({ tradeSide }) => tradeSide)
    expect(sides[1]).toBe('reduce_close_long')
    expect(new Set(sides.slice(1))).toEqual(new Set(['reduce_close_long', 'burst_close_long']))
    expect(sides.indexOf('burst_close_long')).toBeGreaterThan(
      sides.lastIndexOf('reduce_close_long'),
    )
    const reduced = bench.fills('2').filter(({ tradeSide }) => tradeSide === 'reduce_close_long')
    const size = reduced.reduce((sum, { baseVolume }) => sum + Number(baseVolume), 0)
    expect((20 - size) * price).toBeLessThan(1_000_000 * 1.01)
    expect((20 - size) * price).toBeGreaterThan(1_000_000 * 0.98)
    expect(bench.positions('2')).toEqual([])
    expect(bench.core.books()[0]?.sum).toBe('0')
  })

  test('is closed by the levels of the book, at worse and worse prices', () => {
    const bench = openLarge()

    for (let second = 0; second < 900; second++) {
      bench.wait(900)
      bench.quote({ bid: 59_000, ask: 59_000.1, bidSize: 2, levelTicks: 50 })
    }

    const atOnce = Map.groupBy(bench.fills('2').slice(1), ({ cTime }) => cTime)
    const prices = [...atOnce.values()].at(-1)?.map(({ price }) => Number(price)) ?? []
    expect(prices.length).toBeGreaterThanOrEqual(8)
    expect(prices).toEqual(prices.toSorted((one, other) => other - one))
    expect(prices.at(-1)).toBeLessThan(59_000 - 35)
  })
})

describe('a long and a short of one instrument, crossed', () => {
  test('are set off against each other first', () => {
    const account = openAccount('2', 'hedge_mode', { balances: { USDT: '3000' }, leverage: 20 })
    const bench = new Bench({}, [account])
    bench.place('2', [market('buy', '0.5', { tradeSide: 'open' })])
    bench.place('2', [market('sell', '0.2', { tradeSide: 'open' })])

    bench.settleAt(50_300)

    const closing = bench.fills('2').slice(2)
    expect(closing.map(({ tradeSide, baseVolume }) => `${tradeSide} ${baseVolume}`)).toEqual([
      'offset_close_long 0.2',
      'offset_close_short 0.2',
      'burst_close_long 0.3',
    ])
    expect(bench.positions('2')).toEqual([])
    // Both legs at one quote, and what is left of the long at a later one.
    expect(bench.core.ledger('2').counts).toMatchObject({ liquidations: 3 })
  })

  test('legs of one size that are set off count as liquidated both', () => {
    const account = openAccount('2', 'hedge_mode', { balances: { USDT: '3000' }, leverage: 125 })
    const bench = new Bench({}, [account])
    bench.quote({ bid: 60_000, ask: 60_000.1, bidSize: 30, askSize: 30 })
    for (const side of ['buy', 'sell'] as const)
      bench.place('2', [market(side, '2.5', { tradeSide: 'open' })])

    // What they need grows with the price, and what stands behind them does not.
    bench.settleAt(130_000)

    const sides = bench.fills('2').map(({ tradeSide }) => tradeSide)
    expect([...new Set(sides.slice(2))]).toEqual(['offset_close_long', 'offset_close_short'])
    expect(bench.positions('2')).toEqual([])
    expect(bench.core.ledger('2').counts).toMatchObject({ liquidations: 2 })
  })
})

describe('positions of several accounts and instruments', () => {
  test.each(shareOf([1, 2, 3], 3))(
    'are closed at the very quote at which they no longer stand, seed %i',
    (seed) => {
      const random = createRandom(seed)
      const accounts = ['1', '2', '3'].map((uid) =>
        openAccount(uid, 'hedge_mode', { balances: { USDT: '3000', BTC: '0.05' }, leverage: 50 }),
      )
      const bench = new Bench({ fillModel: 'optimistic' }, accounts)
      const prices = new Map([
        ['BTCUSDT', 60_000],
        ['ETHUSDT', 60_000],
        ['BTCUSD', 60_000],
      ])
      const symbols = [...prices.keys()]
      let [looked, standing] = [0, 0]
      for (let step = 0; step < 2500; step++) {
        const symbol = symbols[random.integer(symbols.length)] as string
        bench.wait(random.integer(5) * 1000)
        const jump = random.integer(40) === 0 ? 5 : 1
        const bid = Math.round((prices.get(symbol) ?? 0) * (1 + 0.002 * jump * random.normal()))
        prices.set(symbol, bid)
        bench.quote({ bid, ask: bid + 0.1 }, symbol)
        const isNewMinute =
          Math.floor(bench.now / 60_000) !== Math.floor((bench.now - 100) / 60_000)
        if (random.integer(3) === 0) openSomething(bench, { symbol, random })
        if (random.integer(25) === 0)
          bench.core.deposit(
            String(1 + random.integer(3)),
            { coin: 'USDT', amount: '2000' },
            bench.now,
          )
        // In a new minute the premium moves marks of other instruments, which are looked at with their next quote.
        if (isNewMinute) continue
        for (const { uid } of accounts) {
          for (const { marginRatio } of bench.positions(uid, symbol)) {
            looked++
            if (Number(marginRatio) < 1) standing++
          }
        }
      }

      expect(bench.core.counters().liquidations).toBeGreaterThan(10)
      expect(looked).toBeGreaterThan(3000)
      expect(standing).toBe(looked)
    },
  )
})

function openSomething(
  bench: Bench,
  { symbol, random }: { symbol: string; random: ReturnType<typeof createRandom> },
): void {
  const uid = String(1 + random.integer(3))
  const side = random.integer(2) === 0 ? 'buy' : 'sell'
  const tradeSide = random.integer(4) === 0 ? 'close' : 'open'
  const marginMode = uid === '3' ? 'isolated' : 'crossed'
  bench.tryPlace(uid, [market(side, (0.05 * (1 + random.integer(20))).toFixed(2), { tradeSide })], {
    symbol,
    marginMode,
  })
}
