import assert from 'node:assert/strict'
import { type Ccxt, type Credentials, type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import { type Passing } from '../relay.ts'
import { at, listAt } from '../read.ts'
import { type Report } from '../report.ts'

const SYMBOL = 'BTC/USDT:USDT'
const QUERY = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' }

interface Clients {
  readonly ccxt: Ccxt
  readonly sdk: Sdk
}

/** The same signed read through either client. */
const READS: readonly (readonly [name: string, read: (clients: Clients) => Promise<unknown>])[] = [
  ['ccxt', ({ ccxt }) => ccxt.fetchMyTrades(SYMBOL, undefined, 5)],
  ['SDK', ({ sdk }) => sdk.getFuturesFills({ ...QUERY, limit: '5' })],
]

const WRONG_CREDENTIALS: readonly (readonly [
  title: string,
  wrong: Partial<Credentials>,
  code: string,
])[] = [
  ['wrong secret', { secret: 'not the secret' }, '40009'],
  ['wrong passphrase', { passphrase: 'not the passphrase' }, '40012'],
  ['unknown key', { key: 'nobody' }, '40037'],
]

const TAMPERED_READS: readonly (readonly [title: string, tamper: Tamper, code: string])[] = [
  [
    'query tampered with',
    (passing) => void (passing.url = passing.url.replace('limit=5', 'limit=6')),
    '40009',
  ],
  ['parameter added to the query', (passing) => void (passing.url += '&idLessThan=1'), '40009'],
  ['without ACCESS-KEY', ({ headers }) => void delete headers['access-key'], '40006'],
  ['without ACCESS-SIGN', ({ headers }) => void delete headers['access-sign'], '40002'],
  ['without ACCESS-TIMESTAMP', ({ headers }) => void delete headers['access-timestamp'], '40003'],
  ['without ACCESS-PASSPHRASE', ({ headers }) => void delete headers['access-passphrase'], '40011'],
  [
    'timestamp that is no number',
    ({ headers }) => void (headers['access-timestamp'] = '2026-01-01T00:00:00Z'),
    '40005',
  ],
]

type Tamper = (passing: Passing) => void

/** Scheme A: what both clients sign is taken, and what was changed on its way is not. */
export async function tryAuthentication(
  report: Report,
  exchange: ConformedExchange,
): Promise<void> {
  const clients = await openClients(exchange)
  for (const [name, read] of READS) {
    await report.try(`${name}: its signature is taken`, async () => {
      await read(clients)
      assert.deepEqual([exchange.relay.last.status, exchange.relay.last.code], [200, '00000'])
      return 'HTTP 200, 00000'
    })
    for (const [title, wrong, code] of WRONG_CREDENTIALS) {
      await report.try(`${name}: ${title}`, async () => {
        const other = await openClients(exchange, wrong)
        return refused(exchange, () => read(other), code)
      })
    }
    for (const [title, tamper, code] of TAMPERED_READS) {
      await report.try(`${name}: ${title}`, () => {
        const call = () => refused(exchange, () => read(clients), code)
        return tampering(exchange, tamper, call)
      })
    }
  }
}

/** What else can be wrong with a request: its body, its address, its time. */
export async function tryTamperedRequests(
  report: Report,
  exchange: ConformedExchange,
): Promise<void> {
  const clients = await openClients(exchange)
  await clients.ccxt.loadMarkets()
  await tryBodies(report, exchange, clients)
  await tryAddresses(report, exchange, clients)
  await tryClocks(report, exchange, clients)
}

async function tryBodies(
  report: Report,
  exchange: ConformedExchange,
  { ccxt, sdk }: Clients,
): Promise<void> {
  const orderList = [{ size: '0.01', side: 'buy', orderType: 'market', clientOid: 'tampered' }]
  const place = () =>
    sdk.futuresBatchSubmitOrders({ ...QUERY, marginCoin: 'USDT', marginMode: 'crossed', orderList })
  const order = () => ccxt.createOrder(SYMBOL, 'market', 'buy', 0.01)
  const replaced = (from: string, to: string) => (passing: Passing) => {
    passing.body = passing.body.replace(from, to)
  }
  const asForm: Tamper = ({ headers }) => {
    headers['content-type'] = 'application/x-www-form-urlencoded'
  }
  const rows: readonly (readonly [string, Tamper, () => Promise<unknown>, string])[] = [
    ['SDK: body tampered with', replaced('"0.01"', '"9.01"'), place, '40009'],
    ['ccxt: body tampered with', replaced('"buy"', '"sell"'), order, '40009'],
    ['SDK: a body that was only spaced out', replaced(',', ', '), place, '40009'],
    ['SDK: a form instead of JSON', asForm, place, '40007'],
  ]
  for (const [title, tamper, call, code] of rows) {
    await report.try(title, async () => {
      const line = await tampering(exchange, tamper, () => refused(exchange, call, code))
      assert.deepEqual(
        listAt((await sdk.getFuturesFills(QUERY)).data, 'fillList'),
        [],
        'nothing was bought',
      )
      return `${line}; nothing traded`
    })
  }
}

async function tryAddresses(
  report: Report,
  exchange: ConformedExchange,
  { sdk }: Clients,
): Promise<void> {
  await report.try('ccxt: asks for the newer kind of account first', async () => {
    const other = await exchange.ccxt('oneWay')
    await other.loadMarkets()
    const { status, code } =
      exchange.relay.seen.findLast(({ url }) => url.startsWith('/api/v3/')) ?? {}
    assert.deepEqual([status, code], [404, '40404'])
    assert.equal(other.options['uta'], false, 'and goes on as a classic account')
    return '/api/v3/account/settings: HTTP 404, 40404; a classic account'
  })
  await report.try('SDK: an address that is none', async () => {
    const path = '/api/v2/mix/order/no-such-thing'
    const { status, code } = await exchange.refusalOf(() => sdk.getPrivate(path))
    assert.deepEqual([status, code], [404, '40404'])
    return 'HTTP 404, 40404'
  })
}

async function tryClocks(
  report: Report,
  exchange: ConformedExchange,
  { sdk }: Clients,
): Promise<void> {
  for (const [way, sign] of [
    ['behind', 1],
    ['ahead', -1],
  ] as const) {
    await report.try(`ccxt: clock half a minute ${way}`, async () => {
      const { ccxt } = await openClients(exchange)
      await ccxt.loadMarkets()
      const ahead = exchange.clock.now() - Date.now()
      ccxt.options['timeDifference'] = sign * 28_000 - ahead
      await ccxt.fetchMyTrades(SYMBOL)
      ccxt.options['timeDifference'] = sign * 32_000 - ahead
      return `28 s: taken; 32 s: ${await refused(exchange, () => ccxt.fetchMyTrades(SYMBOL), '40008')}`
    })
  }
  await report.try('SDK: the exchange clock 31 s on', () => {
    exchange.clock.pass(31_000)
    return refused(exchange, () => sdk.getFuturesFills(QUERY), '40008')
  })
  await report.try('SDK: the time is public even then', async () => {
    const { data } = await sdk.getServerTime()
    assert.equal(typeof at(data, 'serverTime'), 'string')
    return 'HTTP 200'
  })
}

/** Both, told beforehand that the account is a classic one, so that ccxt does not ask. */
async function openClients(
  exchange: ConformedExchange,
  wrong: Partial<Credentials> = {},
): Promise<Clients> {
  const [ccxt, sdk] = [await exchange.ccxt('oneWay', wrong), await exchange.sdk('oneWay', wrong)]
  ccxt.options['uta'] = false
  return { ccxt, sdk }
}

/** Refused with HTTP 400 and the code, in an envelope without data. */
async function refused(
  exchange: ConformedExchange,
  call: () => Promise<unknown>,
  expected: string,
): Promise<string> {
  const { status, code, message, body } = await exchange.refusalOf(call)
  assert.deepEqual([status, code], [400, expected], message)
  const { data, requestTime } = JSON.parse(body) as Record<string, unknown>
  assert.equal(data, null)
  assert.equal(typeof requestTime, 'number')
  return `HTTP ${status}, ${code} ${message}`
}

async function tampering(
  { relay }: ConformedExchange,
  tamper: Tamper,
  call: () => Promise<string>,
): Promise<string> {
  relay.tamper = tamper
  try {
    return await call()
  } finally {
    relay.tamper = undefined
  }
}
