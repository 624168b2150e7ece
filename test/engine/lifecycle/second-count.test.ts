import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type Holding } from '../../../src/domain/position.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const MINUTE = 60_000
const LONG: Holding = { longLots: 10, shortLots: 0 }

/** Ten lots are bought. */
function bought(): EngineBench {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const order = { orderId: toOrderId(`${batch.batchId}001`), side: 'buy', lots: 10 } as const
  read(bench, bench.fill({ ...order, ticks: 100_000, profit: '-1.5', fee: '0.25', scope: 'taker' }))
  return bench
}

function read(bench: EngineBench, ...fills: ReturnType<EngineBench['fill']>[]): void {
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading: { fills, sinceAt: 0, ...at } })
}

/** The next minute begins. */
function compare(bench: EngineBench): void {
  bench.now = (Math.floor(bench.now / MINUTE) + 1) * MINUTE
  bench.price()
  bench.step({ kind: 'timePassed' })
}

const differences = (bench: EngineBench): number =>
  bench.take('announce').filter(({ event }) => event === 'equity.disputed').length

const release = (bench: EngineBench): void => {
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope: '*', reason: 'looked', by: 'anna' },
  })
}

function bookWrongProfit({ book }: EngineBench): void {
  const pair = `${STRATEGY}|${SYMBOL}`
  const money = book.money.get(pair)
  if (money) mutable(book.money).set(pair, { ...money, profit: money.profit.plus(decimal('0.01')) })
}

describe('[RSK2] a second count of the fills', () => {
  test('agrees with a book that is right', () => {
    const bench = bought()
    for (let minutes = 0; minutes < 5; minutes++) compare(bench)

    expect(differences(bench)).toBe(0)
    expect(bench.book.restrictions.size).toBe(0)
  })

  test.each([
    [
      'position',
      ({ book }: EngineBench) => mutable(book.account).set(SYMBOL, { ...LONG, longLots: 11 }),
    ],
    ['profit', bookWrongProfit],
  ])('that finds a wrong %s twice in a row lets only orders leave that reduce', (_, plant) => {
    const bench = bought()
    compare(bench)
    plant(bench)

    compare(bench)
    expect(differences(bench)).toBe(1)
    expect(bench.engine.restrictions).toEqual([])

    compare(bench)
    expect(bench.engine.restrictions).toMatchObject([
      { scope: '*', mode: 'reducing', code: 'recount' },
    ])
    expect(bench.restart().book.restrictions.size).toBe(1)
  })

  test('is not put right by adopting what the exchange holds', () => {
    const bench = bought()
    mutable(bench.book.account).set(SYMBOL, { ...LONG, longLots: 11 })
    for (let readings = 0; readings < 8; readings++) {
      bench.now += 1000
      bench.step({ kind: 'pollDue', what: 'positions' })
      bench.read({ holding: LONG })
      bench.now += 1000
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ holding: LONG })
    }
    expect(bench.book.account.get(SYMBOL)).toEqual(LONG)

    compare(bench)
    compare(bench)

    expect([...bench.book.restrictions.keys()]).toContain('*|recount')
  })

  test('begins anew with a release', () => {
    const bench = bought()
    bookWrongProfit(bench)
    compare(bench)
    compare(bench)

    release(bench)
    compare(bench)
    compare(bench)

    expect(bench.book.restrictions.size).toBe(0)
  })

  test('counts fills of others and of orders that are not known yet', () => {
    const bench = bought()
    const other = {
      side: 'sell',
      lots: 4,
      ticks: 99_000,
      profit: '-3',
      fee: '0.1',
      scope: 'taker',
    } as const
    read(
      bench,
      bench.fill({ ...other, orderId: toOrderId('77'), source: 'SYS' }),
      bench.fill({ ...other, orderId: toOrderId('78') }),
    )
    compare(bench)
    compare(bench)
    compare(bench)

    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 2, shortLots: 0 })
    expect(differences(bench)).toBe(0)
  })

  test('counts the sides of hedge mode each by itself', () => {
    const bench = new EngineBench({}, 'hedge_mode').start()
    const foreign = { ticks: 100_000, fee: '0.1', scope: 'taker', source: 'SYS' } as const
    const open = { ...foreign, orderId: toOrderId('1'), tradeSide: 'open', profit: '0' } as const
    const close = { ...foreign, orderId: toOrderId('2'), tradeSide: 'close', profit: '2' } as const
    read(
      bench,
      bench.fill({ ...open, side: 'buy', lots: 5 }),
      bench.fill({ ...open, side: 'sell', lots: 3 }),
    )
    read(bench, bench.fill({ ...close, side: 'buy', lots: 2 }))
    compare(bench)
    compare(bench)

    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 3, shortLots: 3 })
    expect(differences(bench)).toBe(0)
  })
})
