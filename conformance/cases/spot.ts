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

/** Document: Spot order. */
const ORDER_FIELDS = [
  'userId',
  'symbol',
  'orderId',
  'clientOid',
  'price',
  'size',
  'orderType',
  'side',
  'status',
  'priceAvg',
  'baseVolume',
  'quoteVolume',
  'enterPointSource',
  'orderSource',
  'feeDetail',
  'cTime',
  'uTime',
  'cancelReason',
]
const HISTORY_STATUSES = ['init', 'new', 'partially_fill', 'full_fill', 'cancelled']
const DETAIL_STATUSES: Readonly<Record<string, string>> = {
  init: 'live',
  new: 'live',
  partially_fill: 'partially_filled',
  full_fill: 'filled',
  cancelled: 'cancelled',
}
const SOURCES = ['WEB', 'APP', 'API', 'SYS', 'ANDROID', 'IOS']
const ORDER_SOURCES = [
  'normal',
  'market',
  'spot_trader_buy',
  'spot_follower_buy',
  'spot_trader_sell',
  'spot_follower_sell',
]

/** Histories, one order, withdrawals. */
export async function trySpot(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  const context = { exchange, ccxt, sdk }
  const history = await trySpotHistory(report, context)
  await trySpotDetails(report, context, history)
  await tryWithdrawals(report, context)
}

interface Context {
  readonly exchange: ConformedExchange
  readonly ccxt: Ccxt
  readonly sdk: Sdk
}

/** @returns every row of the history */
async function trySpotHistory(
  report: Report,
  { exchange, ccxt, sdk }: Context,
): Promise<readonly unknown[]> {
  let history: readonly unknown[] = []
  await report.try('SDK spot history, every page', async () => {
    history = await readHistory(sdk, 40)
    assert.ok(history.length > 40, `${history.length} orders`)
    assertFields(history, [...ORDER_FIELDS, 'tpslType'])
    assertAllowed(history, 'status', HISTORY_STATUSES)
    assertAllowed(history, 'enterPointSource', SOURCES)
    assertAllowed(history, 'orderSource', ORDER_SOURCES)
    assertAllowed(history, 'tpslType', ['normal'])
    assertAllowed(history, 'cancelReason', ['', 'normal_cancel', 'stp_cancel'])
    assertNewestFirst(history, 'orderId')
    const { body } = exchange.relay.last
    assert.equal(
      at(JSON.parse(body), 'message'),
      'success',
      'the envelope’s text is called message',
    )
    assert.equal(at(JSON.parse(body), 'msg'), undefined)
    return `${history.length} orders in pages of 40, newest first, none twice; message, not msg`
  })

  await report.try('SDK spot history, default and largest page', async () => {
    const standard = listAt((await sdk.getSpotHistoricOrders()).data)
    const largest = listAt((await sdk.getSpotHistoricOrders({ limit: '100' })).data)
    assert.equal(standard.length, Math.min(100, history.length))
    assert.equal(largest.length, standard.length)
    return `${standard.length} rows`
  })

  await report.try('SDK spot history by time, symbol and orderId', async () => {
    const middle = history[Math.floor(history.length / 2)]
    const [orderId, symbol, cTime] = ['orderId', 'symbol', 'cTime'].map((name) =>
      textAt(middle, name),
    )
    const one = listAt((await sdk.getSpotHistoricOrders({ orderId })).data)
    assert.deepEqual(
      one.map((row) => at(row, 'orderId')),
      [orderId],
    )
    const later = listAt((await sdk.getSpotHistoricOrders({ symbol, startTime: cTime })).data)
    assert.ok(later.length > 0)
    assert.ok(
      later.every((row) => at(row, 'symbol') === symbol && numberAt(row, 'cTime') >= Number(cTime)),
    )
    return `1 by orderId, ${later.length} of ${symbol} from startTime on`
  })

  await report.try('SDK spot history of trigger orders', async () => {
    const rows = listAt((await sdk.getSpotHistoricOrders({ tpslType: 'tpsl' })).data)
    assert.ok(rows.length > 0)
    assertAllowed(rows, 'tpslType', ['tpsl'])
    for (const row of rows) assert.ok(numberAt(row, 'triggerPrice') > 0)
    return `${rows.length} rows, each with its triggerPrice`
  })

  await report.try('SDK spot fees of history rows', async () => {
    const filled = history.filter((row) => at(row, 'status') === 'full_fill')
    const kinds = { newFees: 0, older: 0 }
    for (const row of filled) {
      const fees = JSON.parse(textAt(row, 'feeDetail')) as unknown
      if (at(fees, 'newFees') === undefined) {
        const [coin] = Object.values(fees as object) as unknown[]
        numberAt(coin, 'totalFee')
        textAt(coin, 'feeCoinCode')
        kinds.older++
      } else {
        for (const name of ['c', 'd', 'r', 't']) numberAt(fees, 'newFees', name)
        kinds.newFees++
      }
    }
    assert.ok(kinds.newFees > 0, 'newer rows have newFees')
    return `${kinds.newFees} with newFees, ${kinds.older} in the earlier form`
  })

  await report.try('ccxt spot history', async () => {
    const orders = await ccxt.fetchCanceledAndClosedOrders(SYMBOL, undefined, 20)
    assert.ok(orders.length > 0)
    assert.ok(orders.every(({ symbol }) => symbol === SYMBOL))
    const unread = orders.filter(
      ({ status }) => !['open', 'closed', 'canceled'].includes(status ?? ''),
    )
    assert.deepEqual(
      unread.map(({ info }) => info['status']),
      [],
      'statuses that ccxt does not know',
    )
    return `${orders.length} orders, statuses as ccxt knows them`
  })
  return history
}

async function trySpotDetails(
  report: Report,
  { ccxt, sdk }: Context,
  history: readonly unknown[],
): Promise<void> {
  await report.try('SDK spot order detail agrees with the history', async () => {
    const kinds = new Set<string>()
    for (const row of history) {
      const kind = `${textAt(row, 'status')} ${textAt(row, 'orderType')} ${textAt(row, 'side')}`
      if (kinds.has(kind) || kinds.size >= 10) continue
      kinds.add(kind)
      const rows = listAt((await sdk.getSpotOrder({ orderId: textAt(row, 'orderId') })).data)
      assert.equal(rows.length, 1, kind)
      assertFields(rows, ORDER_FIELDS)
      const [detail] = rows
      assert.equal(
        at(detail, 'status'),
        DETAIL_STATUSES[textAt(row, 'status')],
        `status of ${kind}`,
      )
      for (const name of ['symbol', 'clientOid', 'side', 'orderType', 'cTime']) {
        assert.equal(at(detail, name), at(row, name), `${name} of ${kind}`)
      }
      assert.equal(numberAt(detail, 'baseVolume'), numberAt(row, 'baseVolume'))
      // Document: of a market order the history counts in quote coin, the detail only of a buy.
      const isMarketSell = at(row, 'orderType') === 'market' && at(row, 'side') === 'sell'
      const filled = numberAt(detail, isMarketSell ? 'baseVolume' : 'quoteVolume')
      if (at(row, 'orderType') === 'market') {
        assert.ok(Math.abs(numberAt(detail, 'size') / filled - 1) < 0.01, `size of ${kind}`)
      }
    }
    return [...kinds].join('; ')
  })

  await report.try('ccxt places, reads and cancels a spot order', async () => {
    const price = 20_000
    const { id } = await ccxt.createOrder(SYMBOL, 'limit', 'buy', 0.01, price, {
      clientOid: 'spot-resting',
    })
    const open = await ccxt.fetchOrder(id, SYMBOL)
    assert.deepEqual([open.status, open.price, open.amount], ['open', price, 0.01])
    const byClient = listAt((await sdk.getSpotOrder({ clientOid: 'spot-resting' })).data)
    assert.equal(at(byClient, 0, 'orderId'), id)
    await ccxt.cancelOrder(id, SYMBOL)
    assert.equal((await ccxt.fetchOrder(id, SYMBOL)).status, 'canceled')
    return 'order detail: open by either id, then canceled'
  })

  await report.try('SDK spot order detail by the clientOid of a filled order', async () => {
    const { id } = await ccxt.createOrder(SYMBOL, 'market', 'buy', 0.001, 100_000, {
      clientOid: 'spot-filled',
    })
    assert.equal((await ccxt.fetchOrder(id, SYMBOL)).status, 'closed')
    const { data } = await sdk.getSpotOrder({ clientOid: 'spot-filled' })
    assert.deepEqual(listAt(data), [], 'works only while the order is completely unfilled')
    return 'no row'
  })
}

async function tryWithdrawals(report: Report, { exchange, ccxt, sdk }: Context): Promise<void> {
  await report.try('SDK withdraws by an internal transfer', async () => {
    const to = exchange.account('hedge').uid
    const transfer = { coin: 'USDT', transferType: 'internal_transfer', address: to, size: '25.5' }
    const { data } = await sdk.spotWithdraw({ ...transfer, clientOid: 'internal-1' })
    assert.equal(at(data, 'clientOid'), 'internal-1')
    assert.match(textAt(data, 'orderId'), /^\d+$/)
    return 'orderId and clientOid'
  })

  await report.try('SDK withdraws on chain, to the address book', async () => {
    const { uid } = exchange.account('oneWay')
    const entry = exchange.simulator.exchange
      .contact(uid)
      .withdrawalAddresses.find(({ chain }) => chain === 'TRC20')
    assert.ok(entry)
    const { data } = await sdk.spotWithdraw({
      coin: entry.coin,
      chain: 'trc20',
      address: entry.address,
      transferType: 'on_chain',
      size: '50',
      clientOid: 'chain-1',
    })
    assert.equal(at(data, 'clientOid'), 'chain-1')
    const { id } = await ccxt.withdraw('USDT', 60, entry.address, undefined, { network: 'TRC20' })
    assert.match(id, /^\d+$/)
    return 'SDK and ccxt: an orderId each'
  })

  await report.try('SDK withdraws to an unknown address', async () => {
    const refused = await exchange.refusalOf(() =>
      sdk.spotWithdraw({
        coin: 'USDT',
        chain: 'trc20',
        address: 'TUnknownAddressThatNobodyListed',
        size: '50',
        transferType: 'on_chain',
      }),
    )
    return `HTTP ${refused.status}, ${refused.code} ${refused.message}`
  })
}

async function readHistory(sdk: Sdk, limit: number): Promise<readonly unknown[]> {
  const rows: unknown[] = []
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const idLessThan = rows.length === 0 ? undefined : textAt(rows.at(-1), 'orderId')
    const page = listAt(
      (await sdk.getSpotHistoricOrders({ limit: String(limit), idLessThan })).data,
    )
    rows.push(...page)
    if (page.length < limit) return rows
  }
  assert.fail('the pages do not end')
}

const PAGES_MAX = 12
