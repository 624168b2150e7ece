import assert from 'node:assert/strict'
import { type Ccxt, type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import { type Passing } from '../relay.ts'
import { at, listAt } from '../read.ts'
import { type Report } from '../report.ts'

const SYMBOL = 'BTC/USDT:USDT'
const QUERY = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' }

/** Scheme A: what both clients sign is taken, and what was changed on its way is not. */
export async function tryAuthentication(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  // It asks once whether the account is of the newer kind; the answer is a 404.
  await ccxt.loadMarkets()
  const reads: readonly [string, (client: { ccxt: Ccxt; sdk: Sdk }) => Promise<unknown>][] = [
    ['ccxt', (client) => client.ccxt.fetchMyTrades(SYMBOL, undefined, 5)],
    ['SDK', (client) => client.sdk.getFuturesFills({ ...QUERY, limit: '5' })],
  ]
  const clients = { ccxt, sdk }

  const refused = async (call: () => Promise<unknown>, expected: readonly [number, string]) => {
    const { status, code, message, body } = await exchange.refusalOf(call)
    assert.deepEqual([status, code], expected, message)
    const { data, requestTime } = JSON.parse(body) as Record<string, unknown>
    assert.equal(data, null)
    assert.equal(typeof requestTime, 'number')
    return `HTTP ${status}, ${code} ${message}`
  }
  const tampered = async (
    tamper: (passing: Passing) => void,
    call: () => Promise<unknown>,
    expected: readonly [number, string],
  ) => {
    exchange.relay.tamper = tamper
    try {
      return await refused(call, expected)
    } finally {
      exchange.relay.tamper = undefined
    }
  }

  for (const [name, read] of reads) {
    await report.try(`${name}: its signature is taken`, async () => {
      await read(clients)
      assert.deepEqual([exchange.relay.last.status, exchange.relay.last.code], [200, '00000'])
      return 'HTTP 200, 00000'
    })
    await report.try(`${name}: wrong secret`, async () => {
      const wrong = { secret: 'not the secret' }
      const other = { ccxt: await exchange.ccxt('oneWay', wrong), sdk: await exchange.sdk('oneWay', wrong) }
      other.ccxt.options['uta'] = false
      return refused(() => read(other), [400, '40009'])
    })
    await report.try(`${name}: wrong passphrase`, async () => {
      const wrong = { passphrase: 'not the passphrase' }
      const other = { ccxt: await exchange.ccxt('oneWay', wrong), sdk: await exchange.sdk('oneWay', wrong) }
      other.ccxt.options['uta'] = false
      return refused(() => read(other), [400, '40012'])
    })
    await report.try(`${name}: unknown key`, async () => {
      const wrong = { key: 'nobody' }
      const other = { ccxt: await exchange.ccxt('oneWay', wrong), sdk: await exchange.sdk('oneWay', wrong) }
      other.ccxt.options['uta'] = false
      return refused(() => read(other), [400, '40037'])
    })
    await report.try(`${name}: query tampered with`, () =>
      tampered(
        (passing) => {
          passing.url = passing.url.replace('limit=5', 'limit=6')
        },
        () => read(clients),
        [400, '40009'],
      ),
    )
    await report.try(`${name}: parameter added to the query`, () =>
      tampered(
        (passing) => {
          passing.url += '&idLessThan=1'
        },
        () => read(clients),
        [400, '40009'],
      ),
    )
    for (const header of ['access-key', 'access-sign', 'access-timestamp', 'access-passphrase']) {
      const codes: Record<string, string> = {
        'access-key': '40006',
        'access-sign': '40002',
        'access-timestamp': '40003',
        'access-passphrase': '40011',
      }
      await report.try(`${name}: without ${header.toUpperCase()}`, () =>
        tampered(
          ({ headers }) => {
            delete headers[header]
          },
          () => read(clients),
          [400, codes[header] ?? ''],
        ),
      )
    }
    await report.try(`${name}: timestamp that is no number`, () =>
      tampered(
        ({ headers }) => {
          headers['access-timestamp'] = '2026-01-01T00:00:00Z'
        },
        () => read(clients),
        [400, '40005'],
      ),
    )
  }

  const orderList = [{ size: '0.01', side: 'buy', orderType: 'market', clientOid: 'tampered' }]
  const place = { ...QUERY, marginCoin: 'USDT', marginMode: 'crossed', orderList }
  await report.try('SDK: body tampered with', async () => {
    const line = await tampered(
      (passing) => {
        passing.body = passing.body.replace('"0.01"', '"9.01"')
      },
      () => sdk.futuresBatchSubmitOrders(place),
      [400, '40009'],
    )
    assert.deepEqual(listAt((await sdk.getFuturesFills(QUERY)).data, 'fillList'), [], 'nothing was bought')
    return `${line}; nothing traded`
  })
  await report.try('ccxt: body tampered with', () =>
    tampered(
      (passing) => {
        passing.body = passing.body.replace('"buy"', '"sell"')
      },
      () => ccxt.createOrder(SYMBOL, 'market', 'buy', 0.01),
      [400, '40009'],
    ),
  )
  await report.try('SDK: a body that was only spaced out', () =>
    tampered(
      (passing) => {
        passing.body = passing.body.replace(',', ', ')
      },
      () => sdk.futuresBatchSubmitOrders(place),
      [400, '40009'],
    ),
  )
  await report.try('SDK: a form instead of JSON', () =>
    tampered(
      ({ headers }) => {
        headers['content-type'] = 'application/x-www-form-urlencoded'
      },
      () => sdk.futuresBatchSubmitOrders(place),
      [400, '40007'],
    ),
  )
  await report.try('ccxt: asks for the newer kind of account first', async () => {
    const other = await exchange.ccxt('oneWay')
    await other.loadMarkets()
    const { status, code } = exchange.relay.seen.findLast(({ url }) => url.startsWith('/api/v3/')) ?? {}
    assert.deepEqual([status, code], [404, '40404'])
    assert.equal(other.options['uta'], false, 'and goes on as a classic account')
    return '/api/v3/account/settings: HTTP 404, 40404; a classic account'
  })
  await report.try('SDK: an address that is none', () =>
    refused(() => sdk.getPrivate('/api/v2/mix/order/no-such-thing'), [404, '40404']),
  )
  for (const [way, differenceMs] of [
    ['behind', 1],
    ['ahead', -1],
  ] as const) {
    await report.try(`ccxt: clock half a minute ${way}`, async () => {
      const other = await exchange.ccxt('oneWay')
      await other.loadMarkets()
      other.options['uta'] = false
      const ahead = exchange.clock.now() - Date.now()
      other.options['timeDifference'] = differenceMs * 28_000 - ahead
      await other.fetchMyTrades(SYMBOL)
      other.options['timeDifference'] = differenceMs * 32_000 - ahead
      const line = await refused(() => other.fetchMyTrades(SYMBOL), [400, '40008'])
      return `28 s: taken; 32 s: ${line}`
    })
  }
  await report.try('SDK: the exchange clock 31 s on', async () => {
    exchange.clock.pass(31_000)
    return refused(() => sdk.getFuturesFills(QUERY), [400, '40008'])
  })
  await report.try('SDK: the time is public even then', async () => {
    const { data } = await sdk.getServerTime()
    assert.equal(typeof at(data, 'serverTime'), 'string')
    return 'HTTP 200'
  })
}
