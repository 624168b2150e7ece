import { describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/protocol/endpoints.ts'
import { ALICE, BOB, dataOf, listOf, MarginBench, refusalOf } from './margin-bench.ts'

const LONG_AGO = '1000000000000'

/** Three resting buys a second apart; their ids, oldest first. */
function openThree(mode: 'isolated' | 'crossed') {
  const bench = new MarginBench()
  bench.deposit(mode, 'USDT', '10000')
  const ids = ['51000', '52000', '53000'].map((price, index) => {
    bench.wait(1000)
    return bench.place(mode, { price, baseSize: '0.01', clientOid: `mine-${index}` })
  })
  return { bench, ids }
}

describe('isolated open orders', () => {
  test('are written as the sample writes them: filled zeros, ordered sizes', () => {
    const { bench, ids } = openThree('isolated')

    const page = dataOf(
      bench.service.answer('isolatedOpenOrders', ALICE, { symbol: 'BTCUSDT' }, bench.now),
    )

    expect(page).toMatchObject({ maxId: ids[2], minId: ids[0] })
    expect(listOf(page.orderList)[0]).toEqual({
      symbol: 'BTCUSDT',
      orderType: 'limit',
      enterPointSource: 'API',
      orderId: ids[2],
      clientOid: 'mine-2',
      loanType: 'normal',
      price: '53000',
      side: 'buy',
      status: 'live',
      baseSize: '0.01',
      quoteSize: '530',
      priceAvg: '0',
      size: '0',
      amount: '0',
      force: 'gtc',
      cTime: String(bench.now),
      uTime: String(bench.now),
    })
    expect(endpoints.isolatedOpenOrders.response.safeParse(page).success).toBe(true)
  })

  test('show what was filled in size, amount and priceAvg', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '100000')
    bench.place('isolated', { price: '50000', baseSize: '1.5' })

    bench.show('BTCUSDT', '49999', '50000')

    expect(bench.open('isolated')[0]).toMatchObject({
      status: 'partial_fill',
      size: '1',
      amount: '50000',
      priceAvg: '50000',
      baseSize: '1.5',
      quoteSize: '75000',
    })
  })

  test.each([
    ['an orderId', (ids: readonly string[]) => ({ orderId: ids[1] }), [1]],
    ['a clientOid', () => ({ clientOid: 'mine-0' }), [0]],
    [
      'an orderId and another’s clientOid',
      (ids: readonly string[]) => ({ orderId: ids[1], clientOid: 'x' }),
      [],
    ],
    ['a limit', () => ({ limit: '2' }), [2, 1]],
    ['another symbol', () => ({ symbol: 'ETHUSDT' }), []],
  ] as const)('can be asked for by %s', (_, queryOf, found) => {
    const { bench, ids } = openThree('isolated')
    const query = { symbol: 'BTCUSDT', ...queryOf(ids) }

    const page = dataOf(bench.service.answer('isolatedOpenOrders', ALICE, query, bench.now))

    expect(listOf(page.orderList).map(({ orderId }) => orderId)).toEqual(
      found.map((index) => ids[index]),
    )
  })

  test('can be asked for by the time they came in, ends included', () => {
    const { bench, ids } = openThree('isolated')
    const second = String(bench.now - 1000)
    const query = { symbol: 'BTCUSDT', startTime: second, endTime: second }

    const page = dataOf(bench.service.answer('isolatedOpenOrders', ALICE, query, bench.now))

    expect(page).toMatchObject({ maxId: ids[1], minId: ids[1] })
  })

  test('are empty, with empty ids, for an account that has none', () => {
    const { bench } = openThree('isolated')

    expect(
      dataOf(bench.service.answer('isolatedOpenOrders', BOB, { symbol: 'BTCUSDT' }, bench.now)),
    ).toEqual({
      orderList: [],
      maxId: '',
      minId: '',
    })
  })

  test('leave out what has ended', () => {
    const { bench, ids } = openThree('isolated')

    bench.show('BTCUSDT', '52400', '52500')

    expect(bench.open('isolated').map(({ orderId }) => orderId)).toEqual([ids[1], ids[0]])
  })

  test.each([
    [{ symbol: 'XRPUSDT' }, '40034 Parameter XRPUSDT does not exist'],
    [
      { symbol: 'BTCUSDT', limit: '501' },
      '40053 Value range verification failed: limit should be between 1 and 500',
    ],
    [
      { symbol: 'BTCUSDT', startTime: '1700000000001', endTime: '1700000000000' },
      '20001 startTime should be less than endTime',
    ],
  ])('are refused for %j', (query, refusal) => {
    const { bench } = openThree('isolated')

    expect(refusalOf(bench.service.answer('isolatedOpenOrders', ALICE, query, bench.now))).toBe(
      refusal,
    )
  })

  test('are 100 a page unless more are asked for', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '10000')
    for (let index = 0; index < 120; index++)
      bench.place('isolated', { price: '50000', baseSize: '0.001' })

    expect(bench.open('isolated')).toHaveLength(100)
    const all = bench.service.answer(
      'isolatedOpenOrders',
      ALICE,
      { symbol: 'BTCUSDT', limit: '500' },
      bench.now,
    )
    expect(listOf(dataOf(all).orderList)).toHaveLength(120)
  })
})

describe('crossed open orders', () => {
  test('need a startTime', () => {
    const { bench } = openThree('crossed')
    const query = { symbol: 'BTCUSDT' } as { symbol: string; startTime: string }

    expect(refusalOf(bench.service.answer('crossedOpenOrders', ALICE, query, bench.now))).toBe(
      '40019 Parameter startTime cannot be empty',
    )
  })

  test('write the order price as priceAvg', () => {
    const { bench } = openThree('crossed')

    expect(bench.open('crossed')[0]).toMatchObject({ price: '53000', priceAvg: '53000', size: '0' })
  })

  test('are paged by idLessThan, each once', () => {
    const { bench, ids } = openThree('crossed')
    const query = { symbol: 'BTCUSDT', startTime: LONG_AGO, limit: '2' }

    const first = dataOf(bench.service.answer('crossedOpenOrders', ALICE, query, bench.now))
    const idLessThan = first.minId ?? ''
    const second = dataOf(
      bench.service.answer('crossedOpenOrders', ALICE, { ...query, idLessThan }, bench.now),
    )

    expect(first).toMatchObject({ maxId: ids[2], minId: ids[1] })
    expect(second).toMatchObject({ maxId: ids[0], minId: ids[0] })
    expect(endpoints.crossedOpenOrders.response.safeParse(second).success).toBe(true)
  })

  test('take a limit beyond the isolated maximum as that maximum: the document states none', () => {
    const { bench } = openThree('crossed')
    const query = { symbol: 'BTCUSDT', startTime: LONG_AGO, limit: '9999' }

    expect(
      listOf(dataOf(bench.service.answer('crossedOpenOrders', ALICE, query, bench.now)).orderList),
    ).toHaveLength(3)
  })

  test('are none of the isolated ones', () => {
    const { bench } = openThree('isolated')

    expect(bench.open('crossed')).toEqual([])
  })
})

// Document, Margin order, status: live, partial_fill, filled, cancelled, reject.
test.each(['isolated', 'crossed'] as const)(
  'a fresh account has %s orders in every state of the document: those that ended are answered by their id',
  (mode) => {
    const bench = new MarginBench({ demoPast: true })
    const ask = (query: { symbol: string; clientOid?: string; orderId?: string }) =>
      listOf(
        dataOf(
          mode === 'isolated'
            ? bench.service.answer('isolatedOpenOrders', ALICE, query, bench.now)
            : bench.service.answer(
                'crossedOpenOrders',
                ALICE,
                { ...query, startTime: LONG_AGO },
                bench.now,
              ),
        ).orderList,
      )

    for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
      for (const status of ['live', 'partial_fill', 'filled', 'cancelled', 'reject']) {
        const clientOid = `${mode}-${symbol}-${status}`
        const [order] = ask({ symbol, clientOid })
        expect(order).toMatchObject({ symbol, clientOid, status })
        expect(ask({ symbol, orderId: order?.orderId ?? '' })).toEqual([order])
      }
      expect(new Set(ask({ symbol }).map(({ status }) => status))).toEqual(
        new Set(['live', 'partial_fill']),
      )
    }
    expect(bench.defects()).toEqual([])
  },
)
