import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { describe, expect, test } from 'vitest'
import { ticker } from '../../../src/protocol/futures/tickers.ts'
import {
  Bench,
  DELIVERED,
  DELIVERY_AT,
  dataOf,
  limit,
  market,
  openAccount,
  START_AT,
} from './bench.ts'

describe('fills', () => {
  function traded() {
    const bench = new Bench()
    for (let index = 0; index < 7; index++) {
      bench.place('1', [market(index % 2 === 0 ? 'buy' : 'sell', '0.01')])
      bench.wait(1000)
    }
    const page = (query: object) =>
      dataOf(
        bench.core.answer(
          'orderFills',
          { uid: '1' },
          { productType: 'USDT-FUTURES', ...query },
          bench.now,
        ),
      )
    return { bench, page }
  }

  test('come newest first, and page by page through endId and idLessThan', () => {
    const { page } = traded()

    const first = page({ limit: '3' })
    const second = page({ limit: '3', idLessThan: first.endId })
    const third = page({ limit: '3', idLessThan: second.endId })

    const ids = [first, second, third].map(({ fillList }) =>
      fillList.map(({ tradeId }) => Number(tradeId.slice(-2))),
    )
    expect(ids).toEqual([[7, 6, 5], [4, 3, 2], [1]])
    expect(first.endId).toBe('120000000000000005')
    expect(page({ idLessThan: third.endId })).toEqual({ fillList: [], endId: '' })
  })

  test('of a managed sub-account begin when it was bound, and cannot be asked for from before', () => {
    const boundAt = START_AT + 60_000
    const bench = new Bench({}, [{ ...openAccount('1', 'one_way_mode'), boundAt }])
    const ask = (query: object) =>
      bench.core.answer(
        'orderFills',
        { uid: '1' },
        { productType: 'USDT-FUTURES', ...query },
        bench.now,
      )
    bench.place('1', [market('buy', '0.01')])
    bench.wait(boundAt - bench.now)
    expect(ask({})).toMatchObject({ ok: true, data: { fillList: [] } })

    bench.place('1', [market('sell', '0.01')])
    bench.wait(1000)
    expect(dataOf(ask({})).fillList).toMatchObject([{ side: 'sell' }])
    expect(dataOf(ask({ startTime: String(boundAt) })).fillList).toHaveLength(1)
    expect(ask({ startTime: String(boundAt - 1) })).toMatchObject({ ok: false, code: '40020' })
  })

  test('an id of no trade of ours compares as a number', () => {
    const { page } = traded()

    expect(page({ idLessThan: '5' }).fillList).toHaveLength(0)
    expect(page({ idLessThan: '99999999999999999999' }).fillList).toHaveLength(7)
  })

  test('are found by order, symbol, product type and time', () => {
    const { bench, page } = traded()
    bench.place('1', [market('buy', '0.1')], { symbol: 'ETHUSDT' })

    expect(page({ orderId: '110000000000000003' }).fillList).toHaveLength(1)
    expect(page({ orderId: '3' }).fillList).toHaveLength(0)
    expect(page({ symbol: 'ETHUSDT' }).fillList).toHaveLength(1)
    expect(page({}).fillList).toHaveLength(8)
    const times = page({ symbol: 'BTCUSDT' }).fillList.map(({ cTime }) => cTime)
    expect(
      page({ symbol: 'BTCUSDT', startTime: times[3], endTime: times[1] }).fillList,
    ).toHaveLength(3)
    expect(page({ endTime: String(START_AT) }).fillList).toHaveLength(0)
    expect(
      bench.core.answer('orderFills', { uid: '1' }, { productType: 'COIN-FUTURES' }, bench.now),
    ).toMatchObject({
      data: { fillList: [] },
    })
  })

  // Document: "a missing end defaults to three months after the start, a missing start to three months back".
  test('with one of the times missing reach three calendar months, which are no 90 days', () => {
    const { bench, page } = traded()
    const tradedAt = Number(page({ limit: '1' }).fillList[0]?.cTime)
    const count = (query: object) => page({ ...query, limit: '100' }).fillList.length
    // 92 days: from August to November.
    const threeMonthsBefore = new Date(tradedAt).setUTCMonth(new Date(tradedAt).getUTCMonth() - 3)

    expect(count({ startTime: String(threeMonthsBefore) })).toBe(7)
    expect(count({ startTime: String(threeMonthsBefore - 1) })).toBe(6)
    expect(count({ startTime: String(threeMonthsBefore - 86_400_000) })).toBe(0)

    const oldest = Number(page({}).fillList.at(-1)?.cTime)
    // 92 days again: from November to February.
    const threeMonthsAfter = new Date(oldest).setUTCMonth(new Date(oldest).getUTCMonth() + 3)
    expect(count({ endTime: String(threeMonthsAfter) })).toBe(7)
    expect(count({ endTime: String(threeMonthsAfter + 1) })).toBe(6)
    const at = (now: number) =>
      dataOf(bench.core.answer('orderFills', { uid: '1' }, { productType: 'USDT-FUTURES' }, now))
        .fillList
    expect(at(threeMonthsAfter)).toHaveLength(7)
    expect(at(threeMonthsAfter + 1)).toHaveLength(6)
  })

  test('with an unknown symbol, or from the end to the start, are refused', () => {
    const { bench } = traded()
    const ask = (query: object) =>
      bench.core.answer(
        'orderFills',
        { uid: '1' },
        { productType: 'USDT-FUTURES', ...query },
        bench.now,
      )

    expect(ask({ symbol: 'NOPEUSDT' })).toMatchObject({ ok: false, code: '40034' })
    expect(ask({ symbol: 'BTCUSD' })).toMatchObject({ ok: false, code: '40034' })
    expect(ask({ startTime: '1700000000001', endTime: '1700000000000' })).toMatchObject({
      ok: false,
      code: '20001',
    })
  })

  test.each([
    ['zero', '0'],
    ['null', null],
  ] as const)('write no discount as %s', (totalDeductionFee, written) => {
    const bench = new Bench({ totalDeductionFee })
    bench.place('1', [market('buy', '0.01')])

    expect(bench.fills('1')[0]?.feeDetail).toMatchObject([{ totalDeductionFee: written }])
  })

  test('beyond the number kept are dropped, the oldest first', () => {
    const bench = new Bench({ fillsMax: 10 })

    for (let index = 0; index < 15; index++)
      bench.place('1', [market(index % 2 === 0 ? 'buy' : 'sell', '0.01')])

    const kept = bench.fills('1').map(({ tradeId }) => Number(tradeId.slice(-2)))
    expect(kept.length).toBeLessThanOrEqual(11)
    expect(kept.at(-1)).toBe(15)
  })
})

describe('tickers', () => {
  test('have every field of the document and the mark price, as strings', () => {
    const bench = new Bench()

    const rows = dataOf(
      bench.core.answer('tickers', NOBODY, { productType: 'COIN-FUTURES' }, bench.now),
    )

    expect(rows.map(({ symbol }) => symbol)).toEqual(['BTCUSD', DELIVERED])
    for (const row of rows) {
      expect(Object.keys(row).sort()).toEqual(Object.keys(ticker.shape).sort())
      expect(row).toMatchObject({
        bidPr: '60000',
        askPr: '60000.1',
        bidSz: '1',
        deliveryStatus: 'delivery_normal',
      })
    }
    expect(rows.map(({ deliveryTime }) => deliveryTime === null)).toEqual([true, false])
    expect(rows[0]?.markPrice).toMatch(/^\d{5}(\.\d)?$/)
    expect(rows[1]?.fundingRate).toBe('0')
  })

  test('are the same array while nothing of their product type moves', () => {
    const bench = new Bench()
    const read = (productType: 'USDT-FUTURES' | 'COIN-FUTURES') =>
      dataOf(bench.core.answer('tickers', NOBODY, { productType }, bench.now))
    const usdt = read('USDT-FUTURES')
    const coin = read('COIN-FUTURES')

    bench.wait(500)
    expect(read('USDT-FUTURES')).toBe(usdt)
    bench.quote({ bid: 60_010, ask: 60_010.1 })
    expect(read('USDT-FUTURES')).not.toBe(usdt)
    expect(read('USDT-FUTURES')[0]?.bidPr).toBe('60010')
    expect(read('COIN-FUTURES')).toBe(coin)
  })

  test('are made anew with each minute and each stage of a delivery', () => {
    const bench = new Bench()
    const read = () =>
      dataOf(bench.core.answer('tickers', NOBODY, { productType: 'COIN-FUTURES' }, bench.now))
    const stageOf = () => read().find(({ symbol }) => symbol === DELIVERED)?.deliveryStatus
    const before = read()

    bench.wait(60_000)
    expect(read()).not.toBe(before)
    bench.wait(DELIVERY_AT - 600_001 - bench.now)
    expect(stageOf()).toBe('delivery_normal')
    bench.wait(1)
    expect(stageOf()).toBe('delivery_before')
    bench.wait(600_000)
    expect(stageOf()).toBe('delivery_period')
    bench.wait(60_000)
    expect(stageOf()).toBeUndefined()
  })
})

describe('the long/short ratio', () => {
  test('is a series that time does not rewrite', () => {
    const bench = new Bench()
    const read = () =>
      dataOf(bench.core.answer('longShortRatio', NOBODY, { symbol: 'BTCUSDT' }, bench.now))

    const before = read()
    bench.wait(3 * 3_600_000)
    const after = read()

    expect(before).toHaveLength(24)
    expect(after.slice(0, 21)).toEqual(before.slice(3))
    expect(
      before.every(
        ({ longShortRatio }) => Number(longShortRatio) > 0.2 && Number(longShortRatio) < 3,
      ),
    ).toBe(true)
    expect(
      dataOf(
        bench.core.answer(
          'longShortRatio',
          NOBODY,
          { symbol: 'BTCUSDT', period: '30d', coin: 'USDT' },
          bench.now,
        ),
      ),
    ).toHaveLength(30)
    expect(
      bench.core.answer('longShortRatio', NOBODY, { symbol: 'BTCUSDT', coin: 'ETH' }, bench.now),
    ).toMatchObject({
      ok: false,
      code: '40020',
    })
  })
})

describe('the exchange’s clock', () => {
  test('never goes back: an earlier request is served at the latest moment', () => {
    const bench = new Bench()
    bench.place('1', [limit('buy', '0.01', '59900')])

    bench.core.advance(START_AT - 1)

    expect(bench.core.now).toBe(bench.now)
  })
})

describe('a deposit', () => {
  test('is money from outside, and can be traded with', () => {
    const bench = new Bench()

    bench.core.deposit('1', { coin: 'USDT', amount: '0.123456789012345678' }, bench.now)

    expect(bench.coin('1')).toMatchObject({
      deposits: '0.123456789012345678',
      balance: '10000.123456789012345678',
    })
    expect(bench.core.books()[0]).toMatchObject({
      marginCoin: 'USDT',
      sum: '0',
      outside: '-20000.123456789012345678',
    })
    expect(() => bench.core.deposit('1', { coin: 'USDT', amount: '-1' }, bench.now)).toThrow(
      RangeError,
    )
    expect(() => bench.core.ledger('99')).toThrow(/SIMULATOR_UNKNOWN/)
  })
})
