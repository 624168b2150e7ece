import { expect, test } from 'vitest'
import { copyOrderTotalDetail } from '../../../src/protocol/copy/copy-order-total-detail.ts'
import { ANNA, BERT, ExchangeBench, TARA } from '../exchange-bench.ts'

const DAY_MS = 86_400_000
const MARKET = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}

async function openSummary(stepMs = 1000) {
  const bench = await ExchangeBench.open({ demoPast: true, stepMs })
  const read = () => bench.data(TARA, 'copyOrderTotalDetail')
  const place = (side: 'buy' | 'sell', size = '0.02') =>
    bench.data(TARA, 'batchPlaceOrder', {
      body: { ...MARKET, orderList: [{ size, side, orderType: 'market' }] },
    })
  return { bench, read, place }
}

const dollars = (text: string | null | undefined) => Number((text ?? '').replace('$', ''))

test('has every field of the document, and the client’s row reads them', async () => {
  const { read } = await openSummary()

  const summary = read()

  expect(Object.keys(summary).sort()).toEqual(
    Object.keys(copyOrderTotalDetail.response.shape).sort(),
  )
  const clean = copyOrderTotalDetail.response.parse(summary)
  expect(clean.lastWeekRoiList).toHaveLength(7)
  expect(clean.lastMonthProfitList).toHaveLength(30)
  expect(Object.values(clean).every((value) => value !== undefined)).toBe(true)
  expect(summary.totalpl).toMatch(/^-?\$\d+(\.\d{1,2})?$/)
})

test('its numbers agree with one another', async () => {
  const { read } = await openSummary()

  const summary = read()

  const [orders = 0, gains = 0, losses = 0] = [
    summary.tradingOrderNum,
    summary.gainNum,
    summary.lossNum,
  ].map(Number)
  // Document: gainNum and lossNum are ratios, here in percent as the win rate.
  expect(orders).toBeGreaterThan(0)
  expect(gains + losses).toBeCloseTo(100, 1)
  expect(Number(summary.winRate)).toBe(gains)
  expect((gains * orders) / 100).toBeCloseTo(Math.round((gains * orders) / 100), 1)
  expect(Number(summary.currentFollowerNum)).toBeLessThanOrEqual(Number(summary.totalFollowerNum))
  const total = dollars(summary.totalpl)
  const capital = Number(summary.totalEquity) - total
  expect(Number(summary.roi)).toBeCloseTo((total / capital) * 100, 1)
})

test('each day’s rate is its profit over what the account had, and the week ends the month', async () => {
  const { read } = await openSummary()
  const { lastMonthRoiList, lastMonthProfitList, lastWeekRoiList, lastWeekProfitList, ...rest } =
    read()
  const clean = copyOrderTotalDetail.response.parse({
    lastMonthRoiList,
    lastMonthProfitList,
    lastWeekRoiList,
    lastWeekProfitList,
    ...rest,
  })

  let equity = Number(rest.totalEquity) - dollars(rest.totalpl)
  for (const [index, { amount, ts }] of clean.lastMonthProfitList.entries()) {
    const rate = clean.lastMonthRoiList[index]
    expect(rate?.ts).toBe(ts)
    expect(Number(rate?.rate)).toBeCloseTo((Number(amount) / equity) * 100, 4)
    equity += Number(amount)
  }
  expect(clean.lastWeekProfitList).toEqual(clean.lastMonthProfitList.slice(-7))
  expect(clean.lastWeekRoiList).toEqual(clean.lastMonthRoiList.slice(-7))
})

test('trading of its own goes on writing it: orders, profit, equity, and a day when it is over', async () => {
  // A day in few steps.
  const { bench, read, place } = await openSummary(30_000)
  const before = read()

  place('buy')
  bench.wait(60_000)
  place('sell')
  const after = read()
  bench.wait(DAY_MS)
  const nextDay = copyOrderTotalDetail.response.parse(read())

  const earned = Number(bench.exchange.ledger(TARA.uid).coins[0]?.balance) - 10_000
  expect(Number(after.tradingOrderNum)).toBe(Number(before.tradingOrderNum) + 1)
  expect(dollars(after.totalpl)).toBeCloseTo(dollars(before.totalpl) + earned, 1)
  expect(Number(after.totalEquity)).toBeCloseTo(Number(before.totalEquity) + earned, 1)
  expect(nextDay.lastMonthProfitList).toHaveLength(30)
  expect(Number(nextDay.lastMonthProfitList.at(-1)?.amount)).toBeCloseTo(earned, 6)
})

test('is refused to an account that is no trader', async () => {
  const bench = await ExchangeBench.open()

  for (const account of [ANNA, BERT]) {
    expect(bench.call(account, 'copyOrderTotalDetail')).toMatchObject({
      status: 400,
      code: '31001',
      msg: 'The user is not a trader',
      data: null,
    })
  }
})
