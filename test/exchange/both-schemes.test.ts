import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareRequest } from '../../src/exchange/client/request-writer.ts'
import { Secret } from '../../src/lib/secret.ts'
import { signSchemeB } from '../../src/protocol/signing.ts'
import { envelopeOf, jsonAnswer, rawAnswer, WireServer } from '../support/wire-server.ts'
import { closeClientsAfterEach, openClient, SECRETS, STOPPED_CLOCK } from './client-fixture.ts'

closeClientsAfterEach()

const TEST_REQUEST = { query: { b: '2', a: '1' }, body: { zeta: 'z', alpha: [1, 2] } }
const WITHDRAWAL = {
  coin: 'USDT',
  transferType: 'on_chain',
  address: '0x00000000000000000000000000000000000000aa',
  chain: 'erc20',
  size: '12.5',
} as const

it('calls of the demo environment say so in a header that is not signed; public ones do not', async () => {
  const plain = await openClient({ clock: STOPPED_CLOCK })
  const demo = await openClient({ clock: STOPPED_CLOCK, isDemo: true })
  for (const { server, client } of [plain, demo]) {
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf([])))
    await client.call('orderFills', { productType: 'USDT-FUTURES' })
    await client.call('tickers', { productType: 'USDT-FUTURES' })
    await client.call('gatewayTest', TEST_REQUEST)
  }
  const headersOf = ({ server }: typeof demo) => server.requests.map(({ headers }) => headers)

  expect(headersOf(plain).map(({ paptrading }) => paptrading)).toEqual(Array(3).fill(undefined))
  expect(headersOf(demo).map(({ paptrading }) => paptrading)).toEqual(['1', undefined, '1'])
  for (const name of ['access-sign', 'x-api-signature'])
    expect(headersOf(demo).map((headers) => headers[name])).toEqual(
      headersOf(plain).map((headers) => headers[name]),
    )
})

describe('scheme B, the signed gateway', () => {
  it('sends query and body in one request, signed as they stand', async () => {
    const { server, client } = await openClient({ clock: STOPPED_CLOCK })
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf({ pong: true })))

    const answer = await client.call('gatewayTest', TEST_REQUEST)

    expect(answer).toMatchObject({ kind: 'accepted', data: { pong: true } })
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'POST', target: '/swap/api/test?a=1&b=2' })
    expect(request?.body).toBe('{"zeta":"z","alpha":[1,2]}')
    expect(request?.headers).toMatchObject({
      'x-api-key': SECRETS.apiKey,
      'x-api-timestamp': '1700000000000',
      'x-api-signature': signSchemeB(SECRETS.secret, {
        apiPath: '/swap/api/test',
        query: { a: '1', b: '2' },
        body: request?.body ?? '',
        apiKey: SECRETS.apiKey,
        timestamp: '1700000000000',
      }),
    })
  })

  it('[SEC1] sends no passphrase and no header of scheme A', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf({})))
    await client.call('gatewayTest', TEST_REQUEST)
    const headers = server.requests[0]?.headers ?? {}
    expect(Object.keys(headers).filter((name) => name.startsWith('access'))).toEqual([])
    expect(JSON.stringify(server.requests)).not.toContain(SECRETS.passphrase)
  })

  it('goes to the gateway’s own address with the gateway’s own key, and nothing else does', async () => {
    const gateway = new WireServer()
    const gatewayUrl = await gateway.start()
    const { server, client } = await openClient({
      gatewayUrl,
      gatewayCredentials: {
        apiKey: new Secret('canary-gateway-key'),
        secret: new Secret('canary-other'),
      },
    })
    const answer = jsonAnswer(envelopeOf([]))
    server.script = gateway.script = (_request, socket) => void socket.write(answer)

    await client.call('gatewayTest', TEST_REQUEST)
    await client.call('longShortRatio', { symbol: 'BTCUSDT' })
    await client.close()
    await gateway.stop()

    expect(gateway.requests.map(({ target }) => target)).toEqual(['/swap/api/test?a=1&b=2'])
    expect(gateway.requests[0]?.headers['x-api-key']).toBe('canary-gateway-key')
    expect(server.requests.map(({ target }) => target)).toEqual([
      '/api/v2/mix/market/long-short-ratio?symbol=BTCUSDT',
    ])
  })

  it.each([
    [400, 'refused', 'definite'],
    [403, 'refused', 'definite'],
    [429, 'refused', 'retry'],
  ] as const)('HTTP %i without an envelope is %s, class %s', async (status, kind, refusalClass) => {
    const { server, client } = await openClient()
    server.script = (_request, socket) => void socket.write(rawAnswer({ status, body: 'no' }))
    const answer = await client.call('gatewayTest', TEST_REQUEST)
    expect(answer).toMatchObject({ kind, class: refusalClass, code: String(status), status })
  })

  it('[ORD3] HTTP 403 without an envelope leaves a request of scheme A unknown', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) => void socket.write(rawAnswer({ status: 403, body: 'no' }))
    const answer = await client.call('cancelAllOrders', { productType: 'USDT-FUTURES' })
    expect(answer).toMatchObject({ kind: 'unknown', cause: 'unreadable' })
  })

  it('refuses a query value that clients would sign in different ways, and sends nothing', async () => {
    const { server, client } = await openClient()
    const answer = await client.call('gatewayTest', {
      ...TEST_REQUEST,
      query: { a: '1 2', b: '3' },
    })
    expect(answer).toMatchObject({ kind: 'refused', class: 'invalid', code: 'REQUEST_INVALID' })
    expect(server.requests).toEqual([])
  })
})

describe('names of the wire', () => {
  it('are made of the clean request before it is signed', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ orderId: '7' })))
    const request = {
      orderId: '7',
      productType: 'USDT-FUTURES',
      newStopSurplusTriggerPrice: '70000',
      newStopSurplusTriggerType: 'mark_price',
    } as const

    await client.call('modifyPlanOrder', request)

    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      ...request,
      newSurplusTriggerPrice: '70000',
    })
  })

  it('are made clean in answers', async () => {
    const { server, client } = await openClient({ platformCoin: 'house' })
    server.script = (_request, socket) =>
      void socket.write(
        jsonAnswer(envelopeOf([{ orderId: '1', ctime: '1700000000000', toCoin: '' }])),
      )
    const answer = await client.call('convertRecords', {})
    expect(server.requests[0]?.target).toBe('/api/v2/convert/house-convert-records')
    expect(answer).toMatchObject({
      kind: 'accepted',
      data: [{ orderId: '1', ts: '1700000000000' }],
    })
  })

  it('a path without its value is refused, and nothing is sent', async () => {
    const { server, client } = await openClient()
    const answer = await client.call('convertRecords', {})
    expect(answer).toMatchObject({
      kind: 'refused',
      class: 'invalid',
      code: 'PATH_PARAMETER_MISSING',
    })
    expect(server.requests).toEqual([])
  })

  it('rules that need the pending order are checked when it is known', () => {
    const request = { orderId: '7', productType: 'USDT-FUTURES', newPrice: '1' } as const
    const positionMode = 'one_way_mode'
    const planOrder = { type: 'limit', trailing: true } as const
    expect(prepareRequest('modifyPlanOrder', request, { positionMode }).kind).toBe('prepared')
    expect(prepareRequest('modifyPlanOrder', request, { positionMode, planOrder })).toMatchObject({
      kind: 'invalid',
      problem: expect.stringContaining('newPrice must be empty for a trailing order'),
    })
  })
})

describe('what moves money out or makes accounts', () => {
  it('is locked in a client that was not opened for it, the daemon’s among them', async () => {
    const { server, client } = await openClient()
    const withdrawal = await client.call('spotWithdrawal', WITHDRAWAL)
    const accounts = await client.call('createVirtualSubaccounts', { subAccountList: ['abcdefgh'] })
    const bytes = await client.send({ endpoint: 'spotWithdrawal', body: '{}', query: '' })
    for (const answer of [withdrawal, accounts, bytes]) {
      expect(answer).toMatchObject({ kind: 'refused', class: 'invalid', code: 'ENDPOINT_LOCKED' })
    }
    expect(server.requests).toEqual([])
  })

  it('opens for the one endpoint that was named', async () => {
    const { server, client } = await openClient({ unlocked: 'spotWithdrawal' })
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ orderId: '1' })))
    const withdrawal = await client.call('spotWithdrawal', WITHDRAWAL)
    const accounts = await client.call('createVirtualSubaccounts', { subAccountList: ['abcdefgh'] })
    expect(withdrawal.kind).toBe('accepted')
    expect(accounts).toMatchObject({ code: 'ENDPOINT_LOCKED' })
    expect(server.requests).toHaveLength(1)
  })

  it('is named by no module that the daemon is made of, and unlocked by none', () => {
    const modules = [
      'daemon',
      'engine',
      'execution',
      'market',
      'risk',
      'strategy',
      'journal',
      'domain',
    ]
    const guarded = /spotWithdrawal|createVirtualSubaccounts|\bunlocked\b/
    const naming = modules
      .flatMap((module) => filesOf(module))
      .filter((file) => guarded.test(readFileSync(file, 'utf8')))
    expect(naming).toEqual([])
  })
})

function filesOf(module: string): string[] {
  const folder = join(import.meta.dirname, '../../src', module)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))
}
