import assert from 'node:assert/strict'
import { ConformedExchange } from '../exchange.ts'
import { at, listAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { restingPrice } from './futures-orders.ts'
import { defaultRateLimitSettings } from '../../src/simulator/wire/checks/rate-limits.ts'

const MINUTE_MS = 60_000
const PLACE = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}
const FILLS = { productType: 'USDT-FUTURES' }

/** What needs minutes of the exchange's clock, or a setting other than the default. */
export async function trySettings(report: Report): Promise<void> {
  for (const idempotency of ['duplicateError', 'replay', 'pendingOnly'] as const) {
    await report.try(`clientOid in and after 20 minutes: ${idempotency}`, () =>
      withExchange(
        { core: { idempotency }, wire: { timestampToleranceMs: 60 * MINUTE_MS } },
        async (exchange) => {
          const sdk = await exchange.sdk('oneWay')
          const price = await restingPrice(sdk)
          const orderList = [
            {
              size: '0.01',
              price: String(price),
              side: 'buy',
              orderType: 'limit',
              clientOid: 'window',
            },
          ]
          const send = async () =>
            (await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })).data
          const first = textAt(await send(), 'successList', 0, 'orderId')
          await sdk.futuresCancelAllOrders(FILLS)
          exchange.clock.pass(19 * MINUTE_MS)
          const again = await send()
          if (idempotency === 'duplicateError')
            assert.equal(at(again, 'failureList', 0, 'errorCode'), '40786')
          else if (idempotency === 'replay')
            assert.equal(at(again, 'successList', 0, 'orderId'), first)
          else assert.notEqual(textAt(again, 'successList', 0, 'orderId'), first)
          if (idempotency === 'pendingOnly') return 'the first is gone: a new order'
          exchange.clock.pass(2 * MINUTE_MS)
          assert.notEqual(textAt(await send(), 'successList', 0, 'orderId'), first, 'a new order')
          return `19 min: ${idempotency === 'replay' ? 'the first orderId' : '40786'}; 21 min: a new order`
        },
      ),
    )
  }

  await report.try('all endpoints together: 429, and five minutes of it', () => {
    const overall = { ...defaultRateLimitSettings.overall, calls: 12 }
    const rateLimits = { ...defaultRateLimitSettings, overall }
    return withExchange(
      { wire: { rateLimits, timestampToleranceMs: 60 * MINUTE_MS } },
      async (exchange) => {
        const sdk = await exchange.sdk('oneWay')
        for (let count = 0; count < 12; count++) await sdk.getServerTime()
        const over = await exchange.refusalOf(() => sdk.getFuturesFills(FILLS))
        assert.deepEqual([over.status, over.code], [429, '429'])
        exchange.clock.pass(4 * MINUTE_MS)
        assert.equal((await exchange.refusalOf(() => sdk.getServerTime())).status, 429)
        exchange.clock.pass(MINUTE_MS + 1000)
        await sdk.getServerTime()
        return 'over: HTTP 429; 4 min on: HTTP 429; 5 min on: served'
      },
    )
  })

  await report.try('refusals with HTTP 200: both clients see them', () =>
    withExchange({ wire: { businessErrorStatus: 200 } }, async (exchange) => {
      const [sdk, ccxt] = [await exchange.sdk('oneWay'), await exchange.ccxt('oneWay')]
      await ccxt.loadMarkets()
      const one = await exchange.refusalOf(() => sdk.futuresCancelAllOrders(FILLS))
      const other = await exchange.refusalOf(() =>
        ccxt.createOrder('BTC/USDT:USDT', 'market', 'buy', 9999),
      )
      assert.deepEqual([one.status, other.status], [200, 200])
      return `HTTP 200 with ${one.code} and ${other.code}`
    }),
  )

  await report.try('cancel all with nothing open: emptyLists', () =>
    withExchange({ core: { cancelAllEmpty: 'emptyLists' } }, async (exchange) => {
      const { data } = await (await exchange.sdk('oneWay')).futuresCancelAllOrders(FILLS)
      assert.deepEqual([listAt(data, 'successList'), listAt(data, 'failureList')], [[], []])
      return 'HTTP 200, two empty lists'
    }),
  )

  await report.try('a key that is bound to another address', () =>
    withExchange({}, async (exchange) => {
      const sdk = await exchange.sdk('elsewhere')
      const { status, code, message } = await exchange.refusalOf(() => sdk.getFuturesFills(FILLS))
      assert.equal(status, 400)
      assert.ok(['40018', '40038'].includes(code), code)
      return `HTTP 400, ${code} ${message}`
    }),
  )
}

type SimulatorPart = NonNullable<
  NonNullable<Parameters<typeof ConformedExchange.open>[0]>['simulator']
>

async function withExchange(
  simulator: SimulatorPart,
  run: (exchange: ConformedExchange) => Promise<string>,
): Promise<string> {
  const exchange = await ConformedExchange.open({ simulator })
  try {
    return await run(exchange)
  } finally {
    await exchange.stop()
  }
}
