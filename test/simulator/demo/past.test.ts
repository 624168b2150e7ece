import { beforeAll, describe, expect, test } from 'vitest'
import { decimal, ZERO } from '../../../src/lib/decimal.ts'
import { writeTraderPast } from '../../../src/simulator/demo/write-past.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { convertLedger } from '../../../src/simulator/convert/convert.ts'
import { marginLedger } from '../../../src/simulator/margin/margin.ts'
import { spotLedger } from '../../../src/simulator/spot/spot.ts'
import { createTrader } from '../../../src/simulator/copy/trader.ts'
import { createMemoryStore } from '../futures/memory-store.ts'
import { ACCOUNTS, ANNA, BERT, ExchangeBench, TARA } from '../exchange-bench.ts'
import { listOf } from '../margin/margin-bench.ts'
import { START_AT } from '../wire/signed-request.ts'

const OLD_FEES_BEFORE = START_AT - 45 * 86_400_000

let bench: ExchangeBench
beforeAll(async () => {
  bench = await ExchangeBench.open({ demoPast: true })
})

function historyOf(of: ExchangeBench, account: typeof ANNA, tpslType = 'normal') {
  const rows = []
  for (let cursor = ''; ; cursor = `&idLessThan=${rows.at(-1)?.orderId}`) {
    const query = `tpslType=${tpslType}&limit=40${cursor}`
    const page = listOf(of.data(account, 'spotHistoryOrders', { query }))
    rows.push(...page)
    if (page.length < 40) return rows
  }
}

describe('the past of an account', () => {
  test('has spot orders of both kinds and sides, in every status, from every entry', () => {
    for (const account of [ANNA, BERT]) {
      const [normal, tpsl] = [historyOf(bench, account), historyOf(bench, account, 'tpsl')]
      const all = [...normal, ...tpsl]
      const seen = (field: keyof (typeof all)[number]) => new Set(all.map((order) => order[field]))

      expect(all).toHaveLength(130)
      expect(tpsl.length).toBeGreaterThan(5)
      expect(seen('status')).toEqual(
        new Set(['cancelled', 'full_fill', 'init', 'new', 'partially_fill']),
      )
      expect(seen('cancelReason')).toEqual(new Set(['', 'normal_cancel', 'stp_cancel']))
      expect(seen('enterPointSource')).toEqual(new Set(['API', 'WEB', 'ANDROID', 'IOS', 'SYS']))
      expect(new Set(all.map(({ orderType, side }) => `${orderType} ${side}`)).size).toBe(4)
    }
  })

  test('has earlier spot orders with fees under a coin and recent ones under newFees', () => {
    const filled = historyOf(bench, ANNA).filter(({ status }) => status === 'full_fill')
    const keys = filled.map(({ cTime, feeDetail }) => ({
      isOld: Number(cTime) < OLD_FEES_BEFORE,
      keys: Object.keys(JSON.parse(feeDetail ?? '') as object),
    }))

    expect(keys.filter(({ isOld }) => isOld).length).toBeGreaterThan(10)
    expect(keys.filter(({ isOld }) => !isOld).length).toBeGreaterThan(10)
    for (const { isOld, keys: names } of keys) expect(names.includes('newFees')).toBe(!isOld)
  })

  test('has withdrawals, conversions, liquidations, margin orders and a trader’s month', () => {
    const { spot, convert, margin } = bench.exchange.services
    const month = bench.data(TARA, 'copyOrderTotalDetail')

    for (const { uid } of ACCOUNTS) {
      expect(spotLedger(spot, uid)).toMatchObject({
        ordersOpen: 5,
        ordersKept: 130,
        withdrawals: 8,
      })
      expect(convertLedger(convert, uid)).toEqual({ conversions: 30 })
      expect(marginLedger(margin, uid).openOrders).toHaveLength(28)
      expect(marginLedger(margin, uid).liquidations.isolated).toBeGreaterThan(4)
    }
    expect(listOf(month.lastMonthRoiList)).toHaveLength(30)
    expect(Number(month.tradingOrderNum)).toBeGreaterThan(0)
  })

  test('agrees with the balances to the last digit, and lies before the start', () => {
    const times = ACCOUNTS.flatMap((account) => historyOf(bench, account)).map(({ cTime }) =>
      Number(cTime),
    )

    expect(bench.exchange.imbalances()).toEqual([])
    expect(Math.max(...times)).toBeLessThan(START_AT)
  })

  test('ends at the price that is displayed', () => {
    const [ticker] = bench.data(ANNA, 'spotTickers', { query: 'symbol=BTCUSDT' })
    const open = historyOf(bench, ANNA).filter(
      ({ status, symbol }) => status === 'new' && symbol === 'BTCUSDT',
    )

    expect(open.length).toBeGreaterThan(0)
    for (const { price } of open)
      expect(Math.abs(Number(price) / Number(ticker?.lastPr) - 1)).toBeLessThan(0.032)
  })

  test('is the same for the same seed, and another for another', async () => {
    const again = await ExchangeBench.open({ demoPast: true })
    const other = await ExchangeBench.open({ demoPast: true, seed: 'other' })

    expect(again.exchange.ledger(ANNA.uid)).toEqual(bench.exchange.ledger(ANNA.uid))
    expect(historyOf(other, ANNA)).not.toEqual(historyOf(bench, ANNA))
  })

  test('is written once', async () => {
    const store = createMemoryStore()
    const first = await ExchangeBench.open({ demoPast: true, store })
    const again = await ExchangeBench.open({ demoPast: true, store })

    expect(again.exchange.ledger(ANNA.uid)).toEqual(first.exchange.ledger(ANNA.uid))
    expect(historyOf(again, ANNA)).toEqual(historyOf(first, ANNA))
  })

  test('is as short as there is money for', async () => {
    const services = { spot: { opening: { USDT: '150' } } }
    const poor = await ExchangeBench.open({ demoPast: true, services })

    expect(historyOf(poor, ANNA).length).toBeLessThan(100)
    expect(poor.exchange.imbalances()).toEqual([])
  })
})

test('nobody has a past who did not ask for one, or who only asks later', async () => {
  const store = createMemoryStore()
  const plain = await ExchangeBench.open({ store })
  const later = await ExchangeBench.open({ store, demoPast: true })

  for (const { exchange } of [plain, later]) {
    const { balances, services } = exchange.ledger(ANNA.uid)
    expect(balances.every(({ bookings }) => Object.keys(bookings).join() === 'opening')).toBe(true)
    expect(services).toMatchObject({
      spot: { ordersKept: 0, withdrawals: 0 },
      convert: { conversions: 0 },
    })
  }
})

test('a trader without the coin that it is counted in has a past without profit', () => {
  const trader = createTrader('1', START_AT, ZERO)

  writeTraderPast(trader, undefined, createRandom(1))

  expect(trader.totalProfit.eq(decimal('0'))).toBe(true)
  expect(trader.gains + trader.losses).toBeGreaterThan(0)
})
