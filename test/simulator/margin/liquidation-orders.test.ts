import { marginLedger } from '../../../src/simulator/margin/margin.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/protocol/endpoints.ts'
import { type LiquidationQuery } from '../../../src/simulator/margin/debts/liquidation-page.ts'
import { ALICE, dataOf, DAY_MS, listOf, MarginBench, refusalOf, START_AT } from './margin-bench.ts'

let bench: MarginBench
beforeAll(() => {
  bench = new MarginBench({ demoPast: true })
})

const OLDER = {
  startTime: String(START_AT - 150 * DAY_MS),
  endTime: String(START_AT - 60 * DAY_MS),
}

function page(mode: 'isolated' | 'crossed', query: LiquidationQuery) {
  const reply =
    mode === 'isolated'
      ? bench.service.answer('isolatedLiquidationOrders', ALICE, query, bench.now)
      : bench.service.answer('crossedLiquidationOrders', ALICE, query, bench.now)
  const data = dataOf(reply)
  return { ...data, data, rows: listOf(data.resultList) }
}

describe.each(['isolated', 'crossed'] as const)('%s liquidation orders', (mode) => {
  test.each([
    ['place_order', 100],
    ['swap', 50],
  ] as const)('of type %s come %i a page', (type, limit) => {
    const { rows, idLessThan, data } = page(
      mode,
      limit === 100 ? { type } : { type, limit: String(limit) },
    )

    expect(rows).toHaveLength(limit)
    expect(idLessThan).toBe(rows.at(-1)?.orderId)
    expect(endpoints[`${mode}LiquidationOrders`].response.safeParse(data).success).toBe(true)
  })

  test('are forced orders when no type is asked for', () => {
    const { rows } = page(mode, {})

    expect(rows).toEqual(page(mode, { type: 'place_order' }).rows)
    for (const row of rows) {
      expect(row.side).toMatch(/^liquidation-(sell|buy)$/)
      expect([row.orderType, row.fromCoin, row.toCoin, row.fromSize, row.toSize]).toEqual([
        'market',
        '',
        '',
        '',
        '',
      ])
      expect(Number(row.fillSize)).toBeLessThanOrEqual(Number(row.size))
    }
  })

  test.each(['place_order', 'swap'] as const)(
    'of type %s come once each, newest first, page by page',
    (type) => {
      const all = page(mode, { type, limit: '500' }).rows.map(({ orderId }) => orderId)
      const paged: string[] = []
      let idLessThan: string | undefined
      for (let index = 0; index < 50; index++) {
        const next = page(mode, {
          type,
          limit: '7',
          ...(idLessThan === undefined ? {} : { idLessThan }),
        })
        if (next.rows.length === 0) break
        paged.push(...next.rows.map(({ orderId }) => orderId))
        idLessThan = next.idLessThan ?? undefined
      }

      expect(all.length).toBeGreaterThan(50)
      expect(paged).toEqual(all)
      expect(all.toSorted().toReversed()).toEqual(all)
    },
  )

  test('end with an empty page and an empty cursor', () => {
    expect(page(mode, { idLessThan: '1' }).data).toEqual({ resultList: [], idLessThan: '' })
  })

  test('can be asked for by symbol', () => {
    const { rows } = page(mode, { symbol: 'ETHUSDT', limit: '500' })

    expect(rows.length).toBeGreaterThan(10)
    expect(new Set(rows.map(({ symbol }) => symbol))).toEqual(new Set(['ETHUSDT']))
  })

  test('are swaps of the coins that are asked for, in small letters too', () => {
    const { rows } = page(mode, { type: 'swap', fromCoin: 'btc', toCoin: 'USDT', limit: '500' })

    expect(rows.length).toBeGreaterThan(5)
    expect(new Set(rows.map(({ fromCoin, toCoin }) => `${fromCoin} ${toCoin}`))).toEqual(
      new Set(['BTC USDT']),
    )
    for (const row of rows) {
      expect([
        row.symbol,
        row.side,
        row.price,
        row.size,
        row.amount,
        row.priceAvg,
        row.fillSize,
      ]).toEqual(Array.from({ length: 7 }, () => ''))
    }
  })

  test('are those of the last 90 days when no times are asked for; older ones need both times', () => {
    const recent = page(mode, { limit: '500' }).rows
    const older = page(mode, { ...OLDER, limit: '500' }).rows
    const newest = page(mode, { endTime: String(START_AT), limit: '500' }).rows

    expect(Math.min(...recent.map(({ cTime }) => Number(cTime)))).toBeGreaterThan(
      START_AT - 90 * DAY_MS,
    )
    expect(Math.max(...older.map(({ cTime }) => Number(cTime)))).toBeLessThanOrEqual(
      START_AT - 60 * DAY_MS,
    )
    expect(Math.min(...older.map(({ cTime }) => Number(cTime)))).toBeLessThan(
      START_AT - 90 * DAY_MS,
    )
    expect(newest).toEqual(recent)
  })

  const refused: readonly (readonly [LiquidationQuery, string])[] = [
    [{ type: 'swap', symbol: 'BTCUSDT' }, '40017 Parameter verification failed symbol'],
    [{ fromCoin: 'BTC' }, '40017 Parameter verification failed fromCoin'],
    [{ type: 'place_order', toCoin: 'BTC' }, '40017 Parameter verification failed toCoin'],
    [{ symbol: 'XRPUSDT' }, '40034 Parameter XRPUSDT does not exist'],
    [{ limit: '501' }, '40053 Value range verification failed: limit should be between 1 and 500'],
    [
      { startTime: String(START_AT - 90 * DAY_MS - 1), endTime: String(START_AT) },
      '00001 startTime and endTime interval cannot be greater than 90 days',
    ],
    [
      { startTime: String(START_AT - 100 * DAY_MS) },
      '00001 startTime and endTime interval cannot be greater than 90 days',
    ],
    [
      { startTime: String(START_AT), endTime: String(START_AT - 1) },
      '20001 startTime should be less than endTime',
    ],
  ]
  test.each(refused)('are refused for %j', (query, refusal) => {
    const reply =
      mode === 'isolated'
        ? bench.service.answer('isolatedLiquidationOrders', ALICE, query, bench.now)
        : bench.service.answer('crossedLiquidationOrders', ALICE, query, bench.now)

    expect(refusalOf(reply)).toBe(refusal)
  })
})

describe('the made-up past', () => {
  test('adds up to the last digit', () => {
    expect(bench.defects()).toEqual([])
  })

  test('has what its records traded and swapped in the bookings of the wallet', () => {
    const coins = bench.wallet.statement(ALICE.uid)
    const query = { type: 'swap', limit: '500' } as const
    const old = page('isolated', { ...query, ...OLDER }).rows
    const recent = page('isolated', query).rows
    const unique = new Map([...old, ...recent].map((row) => [row.orderId, row]))
    const swapped = [...unique.values()].reduce((sum, { fromCoin, fromSize, toCoin, toSize }) => {
      if (toCoin === 'ETH') return sum + Number(toSize)
      return fromCoin === 'ETH' ? sum - Number(fromSize) : sum
    }, 0)

    const ether = coins.find(
      ({ balance, coin }) => balance === 'isolated:ETHUSDT' && coin === 'ETH',
    )
    expect(Number(ether?.bookings.conversion)).toBeCloseTo(swapped, 8)
  })

  test('is short for accounts beyond the first', () => {
    const { isolated } = marginLedger(bench.service.state, '1002').liquidations

    expect(isolated).toBeGreaterThan(0)
    expect(isolated).toBeLessThan(20)
  })

  test('leaves open orders and a running loan in every balance', () => {
    for (const mode of ['isolated', 'crossed'] as const) {
      for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
        expect(bench.open(mode, symbol)).toHaveLength(7)
        expect(Number(bench.coin(mode, 'USDT', symbol).borrowed)).toBeGreaterThan(0)
      }
    }
  })

  test('lies before the start, and later ids are later', () => {
    const { openOrders, endedOrders } = marginLedger(bench.service.state, ALICE.uid)
    const orders = [...openOrders, ...endedOrders].toSorted((a, b) =>
      a.orderId < b.orderId ? -1 : 1,
    )
    const times = orders.map(({ cTime }) => Number(cTime))

    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times.at(-1)).toBeLessThanOrEqual(START_AT)
  })

  test('is the same for the same seed, and another for another', () => {
    const rows = (seed: number) => new MarginBench({ seed, demoPast: true }).stored()

    expect(rows(3)).toEqual(rows(3))
    expect(rows(4)).not.toEqual(rows(3))
  })
})

test('records beyond the maximum are forgotten, oldest first', () => {
  const small = new MarginBench({ demoPast: true, recordsMax: 10 })

  expect(marginLedger(small.service.state, ALICE.uid).liquidations).toEqual({
    isolated: 10,
    crossed: 10,
  })
  const records = small
    .stored()
    .filter(({ table }) => table === 'margin_records')
    .map(({ json }) => JSON.parse(json ?? '') as { uid: string; mode: string })
  expect(records.filter(({ uid, mode }) => uid === ALICE.uid && mode === 'isolated')).toHaveLength(
    10,
  )
})
