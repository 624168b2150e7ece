import assert from 'node:assert/strict'
import { type Ccxt, type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import {
  assertAllowed,
  assertFields,
  assertNewestFirst,
  at,
  listAt,
  numberAt,
  textAt,
} from '../read.ts'
import { type Report } from '../report.ts'

const SYMBOL = 'BTC/USDT'
type Mode = 'isolated' | 'crossed'

/** Document: Margin order. */
const ORDER_FIELDS = [
  'symbol',
  'orderId',
  'clientOid',
  'size',
  'priceAvg',
  'amount',
  'price',
  'force',
  'enterPointSource',
  'status',
  'side',
  'baseSize',
  'quoteSize',
  'orderType',
  'loanType',
  'cTime',
  'uTime',
]
const SIDES: Readonly<Record<Mode, readonly string[]>> = {
  isolated: ['sell', 'buy'],
  crossed: [
    'sell',
    'buy',
    'liquidation-buy',
    'liquidation-sell',
    'systemRepay-buy',
    'systemRepay-selll',
  ],
}

/** Document: Margin liquidation record. What does not apply to the type is empty. */
const RECORD_FIELDS = [
  'orderId',
  'symbol',
  'orderType',
  'side',
  'priceAvg',
  'price',
  'fillSize',
  'size',
  'amount',
  'fromCoin',
  'toCoin',
  'fromSize',
  'toSize',
  'cTime',
  'uTime',
]
const PLACED_ONLY = [
  'symbol',
  'orderType',
  'side',
  'priceAvg',
  'price',
  'fillSize',
  'size',
  'amount',
]
const SWAPPED_ONLY = ['fromCoin', 'toCoin', 'fromSize', 'toSize']

const DAY_MS = 86_400_000

/** Open orders and liquidations of both modes, and the batch cancel of one. */
export async function tryMargin(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  for (const mode of ['isolated', 'crossed'] as const) {
    await tryOpenOrders(report, exchange, { ccxt, sdk, mode })
    await tryLiquidations(report, exchange, { sdk, mode })
  }
  await tryBatchCancel(report, { ccxt, sdk })
}

interface Clients {
  readonly ccxt: Ccxt
  readonly sdk: Sdk
  readonly mode: Mode
}

async function tryOpenOrders(
  report: Report,
  exchange: ConformedExchange,
  { ccxt, sdk, mode }: Clients,
) {
  const startTime = () => String(exchange.clock.now() - 30 * DAY_MS)
  const open = async (more: Readonly<Record<string, unknown>> = {}) =>
    (await sdk.getMarginOpenOrders(mode, { symbol: 'BTCUSDT', startTime: startTime(), ...more }))
      .data

  await report.try(`SDK ${mode} open orders`, async () => {
    const data = await open()
    const rows = listAt(data, 'orderList')
    assert.ok(rows.length > 0)
    assertFields(rows, ORDER_FIELDS)
    assertAllowed(rows, 'side', SIDES[mode])
    assertAllowed(rows, 'force', ['gtc', 'post_only', 'fok', 'ioc'])
    assertAllowed(rows, 'status', ['live', 'partial_fill', 'filled', 'cancelled', 'reject'])
    assertAllowed(rows, 'loanType', ['normal', 'autoLoan', 'autoRepay', 'autoLoanAndRepay'])
    assertAllowed(rows, 'enterPointSource', ['WEB', 'IOS', 'ANDROID', 'API', 'SYS'])
    assertNewestFirst(rows, 'orderId')
    assert.equal(textAt(data, 'maxId'), at(rows[0], 'orderId'))
    assert.equal(textAt(data, 'minId'), at(rows.at(-1), 'orderId'))
    return `${rows.length} orders, newest first, maxId and minId theirs`
  })

  await report.try(`ccxt places an ${mode} margin order and finds it`, async () => {
    const marginMode = mode === 'crossed' ? 'cross' : 'isolated'
    const clientOid = `margin-${mode}`
    const { id } = await ccxt.createOrder(SYMBOL, 'limit', 'buy', 0.001, 20_000, {
      marginMode,
      clientOid,
      loanType: 'autoLoan',
    })
    const orders = await ccxt.fetchOpenOrders(SYMBOL, undefined, undefined, { marginMode })
    const found = orders.find((order) => order.id === id)
    assert.equal(found?.price, 20_000)
    assert.equal(found?.status, 'open')
    for (const query of [{ orderId: id }, { clientOid }]) {
      const rows = listAt(await open(query), 'orderList')
      assert.deepEqual(
        rows.map((row) => at(row, 'orderId')),
        [id],
        JSON.stringify(query),
      )
    }
    return 'among the open orders; by orderId and by clientOid alone'
  })

  await report.try(`SDK ${mode} open orders, a page at a time`, async () => {
    const whole = listAt(await open(), 'orderList')
    const first = await open({ limit: '2' })
    assert.equal(listAt(first, 'orderList').length, 2)
    if (mode === 'isolated') return 'limit 2 (isolated has no cursor)'
    const second = await open({ limit: '500', idLessThan: textAt(first, 'minId') })
    const together = [...listAt(first, 'orderList'), ...listAt(second, 'orderList')]
    assert.deepEqual(
      together.map((row) => at(row, 'orderId')),
      whole.map((row) => at(row, 'orderId')),
    )
    return `2 and ${together.length - 2} orders, together the whole`
  })
}

async function tryLiquidations(
  report: Report,
  exchange: ConformedExchange,
  { sdk, mode }: Omit<Clients, 'ccxt'>,
) {
  for (const type of ['place_order', 'swap'] as const) {
    await report.try(`SDK ${mode} liquidations, ${type}`, async () => {
      const query = { type, startTime: String(exchange.clock.now() - 89 * DAY_MS) }
      const whole = listAt(
        (await sdk.getMarginLiquidationOrders(mode, { ...query, limit: '500' })).data,
        'resultList',
      )
      assert.ok(whole.length > 0)
      assertFields(whole, RECORD_FIELDS)
      assertNewestFirst(whole, 'orderId')
      const [given, empty] =
        type === 'swap' ? [SWAPPED_ONLY, PLACED_ONLY] : [PLACED_ONLY, SWAPPED_ONLY]
      for (const row of whole) {
        for (const name of given) assert.notEqual(at(row, name), '', `${name} is given`)
        for (const name of empty) assert.equal(at(row, name), '', `${name} does not apply`)
      }
      if (type === 'place_order') {
        assertAllowed(whole, 'orderType', ['market'])
        assertAllowed(whole, 'side', [
          'liquidation_sell',
          'liquidation_buy',
          'liquidation-sell',
          'liquidation-buy',
        ])
      }
      const limit = Math.ceil(whole.length / 3)
      const paged = await readLiquidations(sdk, mode, { ...query, limit: String(limit) })
      assert.deepEqual(
        paged.map((row) => at(row, 'orderId')),
        whole.map((row) => at(row, 'orderId')),
        'the pages together are the whole',
      )
      return `${whole.length} records in pages of ${limit}; fields of the other type empty`
    })
  }

  await report.try(`SDK ${mode} liquidations, default type and filters`, async () => {
    const rows = listAt((await sdk.getMarginLiquidationOrders(mode, {})).data, 'resultList')
    assert.ok(rows.length > 0 && rows.length <= 100)
    assertAllowed(rows, 'orderType', ['market'])
    const symbol = textAt(rows[0], 'symbol')
    const ofSymbol = listAt(
      (await sdk.getMarginLiquidationOrders(mode, { symbol })).data,
      'resultList',
    )
    assertAllowed(ofSymbol, 'symbol', [symbol])
    const swaps = listAt(
      (await sdk.getMarginLiquidationOrders(mode, { type: 'swap' })).data,
      'resultList',
    )
    const fromCoin = textAt(swaps[0], 'fromCoin')
    const ofCoin = listAt(
      (await sdk.getMarginLiquidationOrders(mode, { type: 'swap', fromCoin })).data,
      'resultList',
    )
    assertAllowed(ofCoin, 'fromCoin', [fromCoin])
    const endTime = textAt(rows.at(-1), 'cTime')
    const early = listAt(
      (await sdk.getMarginLiquidationOrders(mode, { endTime })).data,
      'resultList',
    )
    assert.ok(early.length > 0 && early.every((row) => numberAt(row, 'cTime') <= Number(endTime)))
    return `place_order, 100 at most; ${ofSymbol.length} of ${symbol}, ${ofCoin.length} from ${fromCoin}`
  })
}

async function readLiquidations(sdk: Sdk, mode: Mode, query: Readonly<Record<string, string>>) {
  const rows: unknown[] = []
  let idLessThan: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const { data } = await sdk.getMarginLiquidationOrders(mode, { ...query, idLessThan })
    const page = listAt(data, 'resultList')
    rows.push(...page)
    if (page.length < Number(query['limit'])) return rows
    idLessThan = textAt(data, 'idLessThan')
  }
  return rows
}

const PAGES_MAX = 6

/** Through ccxt and by hand: the SDK 3.2.3 asks for a path with `${marginType}` in it. */
async function tryBatchCancel(report: Report, { ccxt, sdk }: Omit<Clients, 'mode'>) {
  const path = '/api/v2/margin/isolated/batch-cancel-order'
  const isolated = { marginMode: 'isolated' }
  const place = async (clientOid: string) =>
    (
      await ccxt.createOrder(SYMBOL, 'limit', 'buy', 0.001, 20_000, {
        ...isolated,
        clientOid,
        loanType: 'autoLoan',
      })
    ).id

  await report.try('ccxt cancels isolated margin orders in batch', async () => {
    const ids = [await place('batch-a'), await place('batch-b')]
    const cancelled = await ccxt.cancelOrders(ids, SYMBOL, isolated)
    assert.deepEqual(cancelled.map(({ id }) => id).sort(), ids.sort())
    const open = await ccxt.fetchOpenOrders(SYMBOL, undefined, undefined, isolated)
    assert.ok(open.every(({ id }) => !ids.includes(id)))
    return '2 in successList, neither is open'
  })

  await report.try('SDK cancels by clientOid, clientId, and a wrong id', async () => {
    await place('batch-c')
    await place('batch-d')
    const { data } = await sdk.postPrivate(path, {
      symbol: 'BTCUSDT',
      orderIdList: [{ clientOid: 'batch-c' }, { clientId: 'batch-d' }, { clientOid: 'batch-none' }],
    })
    assert.deepEqual(
      listAt(data, 'successList').map((item) => at(item, 'clientOid')),
      ['batch-c', 'batch-d'],
    )
    const failed = listAt(data, 'failureList')
    assertFields(failed, ['clientOid', 'errorMsg'])
    assert.deepEqual(
      failed.map((item) => at(item, 'clientOid')),
      ['batch-none'],
    )
    return `both spellings; failed: ${textAt(failed[0], 'errorMsg')}`
  })
}
