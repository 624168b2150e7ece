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

const SYMBOL = 'BTC/USDT:USDT'
const ETH_PLACE = {
  symbol: 'ETHUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}
const QUERY = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' }

/** Document: Futures fill. */
const FILL_FIELDS = [
  'tradeId',
  'symbol',
  'orderId',
  'price',
  'baseVolume',
  'quoteVolume',
  'side',
  'profit',
  'enterPointSource',
  'tradeSide',
  'posMode',
  'tradeScope',
  'cTime',
]

/** Document: Futures position. */
const POSITION_FIELDS = [
  'symbol',
  'marginCoin',
  'holdSide',
  'openDelegateSize',
  'marginSize',
  'available',
  'locked',
  'total',
  'leverage',
  'achievedProfits',
  'openPriceAvg',
  'marginMode',
  'posMode',
  'unrealizedPL',
  'liquidationPrice',
  'keepMarginRate',
  'markPrice',
  'marginRatio',
  'breakEvenPrice',
  'totalFee',
  'deductedFee',
  'assetMode',
  'cTime',
  'uTime',
]

interface Context {
  readonly ccxt: Ccxt
  readonly sdk: Sdk
}

/** Fills, and the position that they make, in one-way mode. */
export async function tryFuturesFills(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  await tryPosition(report, { ccxt, sdk })
  await tryFills(report, { ccxt, sdk })
}

async function tryPosition(report: Report, { ccxt, sdk }: Context): Promise<void> {
  await report.try('ccxt trades at the market, buys and sells', async () => {
    const sides = ['buy', 'buy', 'sell'] as const
    const orders = await ccxt.createOrders(
      sides.map((side, index) => ({
        symbol: SYMBOL,
        type: 'market' as const,
        side,
        amount: 0.02,
        params: { clientOid: `market-${index}` },
      })),
    )
    const trades = await ccxt.fetchMyTrades(SYMBOL)
    for (const [index, { id }] of orders.entries()) {
      const own = trades.filter(({ order }) => order === id)
      const amount = own.reduce((sum, trade) => sum + trade.amount, 0)
      assert.ok(Math.abs(amount - 0.02) < 1e-9, `order ${index} is filled`)
      assert.ok(
        own.every(({ side, takerOrMaker }) => side === sides[index] && takerOrMaker === 'taker'),
      )
    }
    return '3 orders filled as taker, on their sides'
  })

  await report.try('ccxt position is the sum of the fills', async () => {
    const trades = await ccxt.fetchMyTrades(SYMBOL, undefined, 100)
    const held = trades.reduce(
      (sum, { side, amount }) => sum + (side === 'buy' ? amount : -amount),
      0,
    )
    const position = await ccxt.fetchPosition(SYMBOL)
    assert.ok(Math.abs(numberAt(position, 'contracts') - held) < 1e-9, `${held} held`)
    assert.equal(at(position, 'side'), 'long')
    assert.equal(at(position, 'hedged'), false)
    assert.equal(at(position, 'marginMode'), 'cross')
    return `contracts ${held.toFixed(3)}, long, cross, not hedged`
  })

  await report.try('SDK position has the documented fields', async () => {
    const { data } = await sdk.getFuturesPosition({ ...QUERY, marginCoin: 'USDT' })
    const rows = listAt(data)
    assert.equal(rows.length, 1)
    assertFields(rows, POSITION_FIELDS)
    assertAllowed(rows, 'holdSide', ['long', 'short'])
    assertAllowed(rows, 'marginMode', ['isolated', 'crossed'])
    assertAllowed(rows, 'posMode', ['one_way_mode'])
    assertAllowed(rows, 'assetMode', ['single', 'union'])
    const [row] = rows
    const sum = numberAt(row, 'available') + numberAt(row, 'locked')
    assert.ok(Math.abs(numberAt(row, 'total') - sum) < 1e-9, 'total is available and locked')
    return `${POSITION_FIELDS.length} fields; total = available + locked`
  })

  await report.try('SDK position of a symbol that is flat', async () => {
    const { data } = await sdk.getFuturesPosition({
      ...QUERY,
      symbol: 'ETHUSDT',
      marginCoin: 'USDT',
    })
    assert.deepEqual(listAt(data), [])
    return 'an empty list'
  })
}

async function tryFills(report: Report, { ccxt, sdk }: Context): Promise<void> {
  await report.try('SDK pages through the fills', async () => {
    const orderList = Array.from({ length: 12 }, (_, index) => ({
      size: '0.1',
      side: index % 2 === 0 ? 'buy' : 'sell',
      orderType: 'market',
    }))
    await sdk.futuresBatchSubmitOrders({ ...ETH_PLACE, orderList })
    const query = { productType: 'USDT-FUTURES', symbol: 'ETHUSDT' }
    const whole = listAt((await sdk.getFuturesFills(query)).data, 'fillList')
    assertFields(whole, FILL_FIELDS)
    assertAllowed(whole, 'tradeScope', ['taker', 'maker'])
    assertAllowed(whole, 'tradeSide', ['open', 'close'])
    assertNewestFirst(whole, 'tradeId')
    for (const fill of whole) {
      assertFields(listAt(fill, 'feeDetail'), ['deduction', 'feeCoin', 'totalFee'])
    }
    const paged = await readPages(sdk, query, 5)
    assert.deepEqual(
      paged.rows.map((row) => at(row, 'tradeId')),
      whole.map((row) => at(row, 'tradeId')),
      'the pages together are the whole',
    )
    return `${whole.length} fills, newest first, in ${paged.pages} pages of 5`
  })

  await report.try('SDK fees of fills, totalDeductionFee as a String', async () => {
    const { data } = await sdk.getFuturesFills({ productType: 'USDT-FUTURES' })
    const fees = listAt(data, 'fillList').flatMap((fill) => listAt(fill, 'feeDetail'))
    assertFields(fees, ['totalDeductionFee'])
    return `${fees.length} fees`
  })

  await report.try('ccxt pages through the fills', async () => {
    // By hand: its own pagination looks for endId in the fills themselves, and ends after one page anywhere.
    const ids: string[] = []
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const cursor = ids.length === 0 ? {} : { idLessThan: ids.reduce(lesserId) }
      const page = await ccxt.fetchMyTrades('ETH/USDT:USDT', undefined, 5, cursor)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 5) break
    }
    const { data } = await sdk.getFuturesFills({ productType: 'USDT-FUTURES', symbol: 'ETHUSDT' })
    assert.equal(new Set(ids).size, ids.length, 'none twice')
    assert.equal(ids.length, listAt(data, 'fillList').length)
    return `${ids.length} fills, none twice`
  })

  await report.try('SDK fills of one order, and of a span of time', async () => {
    await ccxt.createOrder(SYMBOL, 'market', 'buy', 0.01)
    const all = listAt((await sdk.getFuturesFills(QUERY)).data, 'fillList')
    const orderId = textAt(all[0], 'orderId')
    const own = listAt((await sdk.getFuturesFills({ ...QUERY, orderId })).data, 'fillList')
    assert.ok(own.length > 0 && own.every((fill) => at(fill, 'orderId') === orderId))
    const endTime = textAt(all.at(-1), 'cTime')
    const early = listAt((await sdk.getFuturesFills({ ...QUERY, endTime })).data, 'fillList')
    assert.ok(early.every((fill) => numberAt(fill, 'cTime') <= Number(endTime)))
    assert.ok(early.length < all.length)
    return `${own.length} of the order, ${early.length} of ${all.length} up to endTime`
  })
}

async function readPages(sdk: Sdk, query: Readonly<Record<string, string>>, limit: number) {
  const rows: unknown[] = []
  let idLessThan: string | undefined
  for (let pages = 1; pages <= PAGES_MAX; pages++) {
    const { data } = await sdk.getFuturesFills({ ...query, limit: String(limit), idLessThan })
    const page = listAt(data, 'fillList')
    assert.ok(page.length <= limit)
    rows.push(...page)
    if (page.length < limit) return { rows, pages }
    idLessThan = textAt(data, 'endId')
    assert.equal(idLessThan, at(page.at(-1), 'tradeId'), 'endId is the final trade id')
  }
  assert.fail('the pages do not end')
}

const PAGES_MAX = 8

function lesserId(left: string, right: string): string {
  return BigInt(left) < BigInt(right) ? left : right
}
