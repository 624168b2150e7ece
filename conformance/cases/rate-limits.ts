import assert from 'node:assert/strict'
import { type Envelope, type Sdk } from '../clients.ts'
import { type ConformedExchange, type Label } from '../exchange.ts'
import { type Report } from '../report.ts'
import { GatewayClient } from './gateway.ts'

/** How many calls a second the document gives, and a call. What it answers else is no matter here. */
interface Limited {
  readonly name: string
  readonly calls: number
  readonly label?: Label
  readonly call: (sdk: Sdk, index: number) => Promise<Envelope>
}

const MIX = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const order = (index: number) => ({
  ...MIX,
  marginMode: 'crossed',
  orderList: [
    {
      size: '0.001',
      side: 'buy',
      orderType: 'market',
      clientOid: `limit-${index}`,
    },
  ],
})
const margin = (exchange: ConformedExchange) => ({
  symbol: 'BTCUSDT',
  startTime: String(exchange.clock.now() - 86_400_000),
})

/** Document: Limits, in its order. */
function limited(exchange: ConformedExchange): readonly Limited[] {
  return [
    {
      name: 'batch place',
      calls: 5,
      call: (sdk, index) => sdk.futuresBatchSubmitOrders(order(index)),
    },
    {
      name: 'batch place, copy trader',
      calls: 1,
      label: 'trader',
      call: (sdk, index) => sdk.futuresBatchSubmitOrders(order(index)),
    },
    {
      name: 'cancel all',
      calls: 1,
      call: (sdk) => sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES' }),
    },
    {
      name: 'modify trigger order',
      calls: 10,
      call: (sdk) =>
        sdk.futuresModifyPlanOrder({
          productType: 'USDT-FUTURES',
          orderId: '1',
          newSize: '1',
        }),
    },
    {
      name: 'fills',
      calls: 10,
      call: (sdk) => sdk.getFuturesFills({ productType: 'USDT-FUTURES' }),
    },
    { name: 'single position', calls: 10, call: (sdk) => sdk.getFuturesPosition(MIX) },
    {
      name: 'tickers',
      calls: 20,
      call: (sdk) => sdk.getFuturesAllTickers({ productType: 'USDT-FUTURES' }),
    },
    {
      name: 'long/short ratio',
      calls: 1,
      call: (sdk) => sdk.getFuturesLongShortRatio({ symbol: 'BTCUSDT' }),
    },
    { name: 'spot history', calls: 20, call: (sdk) => sdk.getSpotHistoricOrders() },
    { name: 'spot order detail', calls: 20, call: (sdk) => sdk.getSpotOrder({ orderId: '1' }) },
    { name: 'spot symbols', calls: 20, call: (sdk) => sdk.getSpotSymbolInfo() },
    {
      name: 'withdrawal',
      calls: 5,
      call: (sdk) =>
        sdk.spotWithdraw({
          coin: 'USDT',
          transferType: 'internal_transfer',
          address: '1000002',
          size: '1',
        }),
    },
    ...(['isolated', 'crossed'] as const).flatMap((mode): readonly Limited[] => [
      {
        name: `${mode} open orders`,
        calls: 10,
        call: (sdk) => sdk.getMarginOpenOrders(mode, margin(exchange)),
      },
      {
        name: `${mode} liquidations`,
        calls: 10,
        call: (sdk) => sdk.getMarginLiquidationOrders(mode, {}),
      },
    ]),
    {
      name: 'isolated batch cancel',
      calls: 10,
      call: (sdk) =>
        sdk.postPrivate('/api/v2/margin/isolated/batch-cancel-order', {
          symbol: 'BTCUSDT',
          orderIdList: [{ clientOid: 'none' }],
        }),
    },
    { name: 'copy summary', calls: 5, label: 'trader', call: (sdk) => sdk.getFuturesTraderOrder() },
    {
      name: 'copy settings',
      calls: 5,
      label: 'trader',
      call: (sdk) =>
        sdk.updateFuturesTraderSymbolSettings({
          settingList: [
            {
              symbol: 'BTCUSDT',
              productType: 'USDT-FUTURES',
              settingType: 'ADD',
            },
          ],
        }),
    },
    { name: 'conversion records', calls: 10, call: (sdk) => sdk.getConvertBGBHistory({}) },
    {
      name: 'sub-accounts',
      calls: 5,
      call: (sdk, index) =>
        sdk.createVirtualSubaccount({ subAccountList: [`Limited${'abcdefghij'[index] ?? 'z'}`] }),
    },
  ]
}

/** The document gives no number for the gateway: a setting of the simulator. */
export const GATEWAY_CALLS = 3

/** Calls beyond the limit; each must be refused. */
const BEYOND = 2

/**
 * A flood of each documented limit. The exchange's clock stands still during the flood, so it is the count
 * that is tried and not the speed of this machine.
 */
export async function tryRateLimits(report: Report, exchange: ConformedExchange): Promise<void> {
  for (const { name, calls, label = 'oneWay', call } of limited(exchange)) {
    await report.try(`429 over ${calls}/s: ${name}`, async () => {
      const sdk = await exchange.sdk(label)
      const before = exchange.relay.seen.length
      await Promise.allSettled(
        Array.from({ length: calls + BEYOND }, (_, index) => call(sdk, index)),
      )
      const flood = exchange.relay.seen.slice(before)
      const refused = flood.filter(({ status }) => status === 429)
      assert.equal(flood.length, calls + BEYOND, 'every call was answered')
      assert.equal(refused.length, BEYOND, `${calls} are served`)
      for (const { code, message } of refused)
        assert.deepEqual([code, message], ['429', 'Too Many Requests'])
      exchange.passSecond()
      await Promise.allSettled([call(sdk, calls + BEYOND)])
      assert.notEqual(exchange.relay.last.status, 429, 'a second later it is served')
      return `${calls} served, ${BEYOND} refused with HTTP 429, code 429; served a second later`
    })
  }

  await report.try('429 of the signed gateway', async () => {
    const client = new GatewayClient(exchange, 'oneWay')
    const flood = await Promise.all(
      Array.from({ length: GATEWAY_CALLS + BEYOND }, () => client.send(client.signed())),
    )
    assert.equal(flood.filter(({ status }) => status === 429).length, BEYOND)
    assert.equal(flood.filter(({ status }) => status === 200).length, GATEWAY_CALLS)
    return `${GATEWAY_CALLS} served as the simulator was told, ${BEYOND} refused with HTTP 429`
  })
  await report.try('429 is counted an endpoint', async () => {
    const sdk = await exchange.sdk('oneWay')
    const query = { productType: 'USDT-FUTURES' }
    await Promise.allSettled(Array.from({ length: 11 }, () => sdk.getFuturesFills(query)))
    await sdk.getFuturesPosition(MIX)
    return 'fills used up, single position served'
  })
  await report.try('429 is counted a UID', async () => {
    const [one, other] = [await exchange.sdk('oneWay'), await exchange.sdk('hedge')]
    const query = { productType: 'USDT-FUTURES' }
    await Promise.allSettled(Array.from({ length: 11 }, () => one.getFuturesFills(query)))
    await other.getFuturesFills(query)
    return 'one account used up, another served'
  })
  await report.try('every answer tells what is left of the second', async () => {
    const sdk = await exchange.sdk('oneWay')
    const left: unknown[] = []
    for (let count = 0; count < 3; count++) {
      await sdk.getFuturesPosition(MIX)
      left.push(exchange.relay.last.headers['x-mbx-used-remain-limit'])
    }
    assert.deepEqual(left, ['9', '8', '7'])
    return 'x-mbx-used-remain-limit 9, 8, 7 of 10'
  })
  await report.try('ccxt knows a 429 for what it is', async () => {
    const ccxt = await exchange.ccxt('oneWay')
    await ccxt.loadMarkets()
    await ccxt.fetchMyTrades('BTC/USDT:USDT')
    const errors = await Promise.allSettled(
      Array.from({ length: 12 }, () => ccxt.fetchMyTrades('BTC/USDT:USDT')),
    )
    const names = errors.flatMap((result) =>
      result.status === 'rejected' ? [nameOf(result.reason)] : [],
    )
    assert.equal(names.length, 3)
    assert.ok(
      names.every((name) => name === 'RateLimitExceeded' || name === 'DDoSProtection'),
      names.join(', '),
    )
    return `${names.length} × ${names[0] ?? ''}`
  })
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : String(error)
}
