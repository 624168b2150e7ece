import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { ClockOffset } from '../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { isGuarded } from '../../src/exchange/client/request-writer.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import {
  endpointNamed,
  type EndpointName,
  endpointNames,
  type RequestOf,
} from '../../src/protocol/endpoints.ts'
import { signSchemeA } from '../../src/protocol/signing.ts'
import { at, listAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { areFixturesThere, readEndpointFixtures, readFixture } from './fixtures.ts'

/** A request that our client lets through; what is answered does not depend on it. */
const REQUESTS: { readonly [Name in Exclude<EndpointName, 'gatewayTest'>]: RequestOf<Name> } = {
  batchPlaceOrder: {
    symbol: 'BTCUSDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'crossed',
    orderList: [
      {
        size: '1',
        side: 'buy',
        orderType: 'market',
      },
    ],
  },
  cancelAllOrders: { productType: 'USDT-FUTURES' },
  modifyPlanOrder: { orderId: '1', productType: 'USDT-FUTURES', newSize: '1' },
  orderFills: { productType: 'USDT-FUTURES' },
  singlePosition: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' },
  tickers: { productType: 'USDT-FUTURES' },
  longShortRatio: { symbol: 'BTCUSDT' },
  spotHistoryOrders: {},
  spotOrderInfo: { orderId: '1' },
  spotSymbols: {},
  spotWithdrawal: { coin: 'USDT', transferType: 'internal_transfer', address: '1', size: '1' },
  isolatedOpenOrders: { symbol: 'BTCUSDT' },
  crossedOpenOrders: { symbol: 'BTCUSDT', startTime: '1700000000000' },
  isolatedLiquidationOrders: {},
  crossedLiquidationOrders: {},
  isolatedBatchCancelOrders: { symbol: 'BTCUSDT', orderIdList: [{ orderId: '1' }] },
  copyOrderTotalDetail: {},
  copyConfigSettingSymbols: {
    settingList: [{ symbol: 'BTCUSDT', productType: 'USDT-FUTURES', settingType: 'ADD' }],
  },
  convertRecords: {},
  createVirtualSubaccounts: { subAccountList: ['Abcdefgh'] },
}

/** The other way round: our client against the answers that others recorded. */
export async function tryGoldenAnswers(report: Report): Promise<void> {
  if (!(await areFixturesThere(report, 'golden answers'))) return
  const served: { status: number; body: string } = { status: 200, body: '' }
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      outgoing.writeHead(served.status, { 'content-type': 'application/json' })
      outgoing.end(served.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient(baseUrl)
  await tryAnswers(report, baseUrl, served)
  await tryErrors(report, client, served)
  await trySignatures(report)
  await client.close()
  server.close()
}

function createClient(baseUrl: string, name?: EndpointName): ExchangeClient {
  return new ExchangeClient({
    baseUrl,
    credentials: {
      apiKey: new Secret('key'),
      secret: new Secret('secret'),
      passphrase: new Secret('phrase'),
    },
    positionMode: 'one_way_mode',
    platformCoin: 'bgb',
    ...(name && isGuarded(name) ? { unlocked: name } : {}),
    clock: systemClock,
    timers: systemTimers,
    offset: new ClockOffset(),
    requestTimeoutMs: 5e3,
    answerBytesMax: 8388608,
    locale: 'en-US',
  })
}

interface Served {
  status: number
  body: string
}

async function tryAnswers(report: Report, baseUrl: string, served: Served): Promise<void> {
  for (const recorded of readEndpointFixtures()) {
    const [method, endpoint] = [textAt(recorded, 'method'), textAt(recorded, 'endpoint')]
    const name = nameOf(method, endpoint)
    for (const [index, sample] of listAt(recorded, 'cases').entries()) {
      await report.try(
        `golden: ${method} ${endpoint.replace('/api/v2/', '')} ${index + 1}`,
        async () => {
          Object.assign(served, { status: 200, body: JSON.stringify(at(sample, 'response')) })
          const client = createClient(baseUrl, name)
          const answer = await client.call(name, REQUESTS[name])
          await client.close()
          assert.equal(answer.kind, 'accepted', JSON.stringify(answer).slice(0, 300))
          const wanted = leavesOf(at(sample, 'response', 'data'))
          const found = new Set([...leavesOf(at(answer, 'data'))].map(([, value]) => value))
          const lost = [...wanted].filter(([, value]) => value !== '""' && !found.has(value))
          const names = [...new Set(lost.map(([path]) => path))]
          const lostText = names.length === 0 ? '' : `; not read: ${names.join(', ')}`
          return `${wanted.length - lost.length} of ${wanted.length} values read${lostText}`
        },
      )
    }
  }
}

async function tryErrors(report: Report, client: ExchangeClient, served: Served): Promise<void> {
  for (const error of listAt(readFixture('error-bodies.json'))) {
    const code = textAt(error, 'body', 'code')
    const message = textAt(error, 'body', 'msg')
    await report.try(`golden: error ${code} ${message.slice(0, 30)}`, async () => {
      const status = Number(at(error, 'http_status'))
      Object.assign(served, { status, body: JSON.stringify(at(error, 'body')) })
      const answer = await client.call('batchPlaceOrder', REQUESTS.batchPlaceOrder)
      assert.notEqual(answer.kind, 'accepted')
      assert.equal(at(answer, 'code'), code)
      assert.equal(at(answer, 'status'), status)
      return answer.kind === 'refused' ? `refused, ${answer.class}, ${answer.topic}` : answer.kind
    })
  }
}

async function trySignatures(report: Report): Promise<void> {
  for (const vector of listAt(readFixture('signatures.json'))) {
    const path = textAt(vector, 'requestPath')
    await report.try(`golden: signature of ${path}`, () => {
      const signature = signSchemeA(textAt(vector, 'secret'), {
        timestamp: textAt(vector, 'timestamp'),
        method: textAt(vector, 'method') === 'GET' ? 'GET' : 'POST',
        path,
        query: textAt(vector, at(vector, 'querySigned') === undefined ? 'query' : 'querySigned'),
        body: textAt(vector, 'body'),
      })
      assert.equal(signature, textAt(vector, 'sign'))
      return Promise.resolve(signature)
    })
  }
}

function nameOf(method: string, path: string): keyof typeof REQUESTS {
  const name = endpointNames.find((candidate) => {
    const row = endpointNamed(candidate)
    return row.method === method && row.path.replace('{platform_coin}', 'bgb') === path
  })
  assert.ok(name && name !== 'gatewayTest', `${method} ${path} is in the table`)
  return name
}

/** Every value that is not a list or an object, with the names that lead to it; feeDetail texts are opened. */
function leavesOf(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string' && value.startsWith('{')) return leavesOf(JSON.parse(value), path)
  if (value === null || value === undefined) return []
  if (typeof value !== 'object') return [[path, JSON.stringify(value)]]
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, Array.isArray(value) ? path : path === '' ? name : `${path}.${name}`),
  )
}
