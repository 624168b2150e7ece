import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench } from '../exchange-bench.ts'
import { GATEWAY_PATH, gatewayRequest, START_AT } from '../wire/signed-request.ts'

const PARTS = { path: GATEWAY_PATH, query: 'b=2&a=1', body: '{"z":1,  "a":"é"}' }
const MINUTE_MS = 60_000
const DEEP = `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`

async function ask(request: ReturnType<typeof gatewayRequest>) {
  const bench = await ExchangeBench.open()
  return bench.answer(request)
}

test('echoes what it was asked, and says who asked and when', async () => {
  const answer = await ask(gatewayRequest(ANNA, PARTS))

  expect(answer).toMatchObject({
    status: 200,
    code: '00000',
    data: {
      uid: ANNA.uid,
      query: { a: '1', b: '2' },
      body: { z: 1, a: 'é' },
      serverTime: String(START_AT),
    },
  })
})

test('the signature is that of the document, made by hand', async () => {
  const key = ANNA.gateway?.key ?? ''
  const text =
    `{"a":"1","apiPath":"/swap/api/test","b":"2","body":"{\\"z\\":1,  \\"a\\":\\"é\\"}",` +
    `"x-api-key":"${key}","x-api-timestamp":"${START_AT}"}`
  const signature = createHmac('sha256', ANNA.gateway?.secret ?? '')
    .update(text)
    .digest('base64')

  const answer = await ask(gatewayRequest(ANNA, PARTS, { 'x-api-signature': signature }))

  expect(answer.status).toBe(200)
})

test('query values are signed as they are before percent-encoding', async () => {
  const request = gatewayRequest(ANNA, { ...PARTS, query: 'a=x%20y&b=%26' })

  expect(await ask(request)).toMatchObject({ status: 200, data: { query: { a: 'x y', b: '&' } } })
})

test.each([
  [-10 * MINUTE_MS, 200],
  [10 * MINUTE_MS, 200],
  [-10 * MINUTE_MS - 1, 400],
  [10 * MINUTE_MS + 1, 400],
])('a timestamp %i ms off is answered with %i', async (offset, status) => {
  expect((await ask(gatewayRequest(ANNA, { ...PARTS, at: START_AT + offset }))).status).toBe(status)
})

test.each([
  ['a client that is not on the whitelist', gatewayRequest(BERT, PARTS), 403],
  [
    'an unknown key',
    gatewayRequest({ gateway: { key: 'k', secret: 's', isWhitelisted: true } }, PARTS),
    403,
  ],
  ['a key of the other scheme', gatewayRequest(ANNA, PARTS, { 'x-api-key': ANNA.key }), 403],
  ['a wrong signature', gatewayRequest(ANNA, PARTS, { 'x-api-signature': 'x' }), 403],
  ['a body that was changed', { ...gatewayRequest(ANNA, PARTS), body: '{"z":1,"a":"é"}' }, 403],
  ['a query that was changed', { ...gatewayRequest(ANNA, PARTS), query: 'b=2&a=3' }, 403],
  ['a parameter that was added', { ...gatewayRequest(ANNA, PARTS), query: 'b=2&a=1&c=3' }, 403],
  ['no key', gatewayRequest(ANNA, PARTS, { 'x-api-key': undefined }), 400],
  ['no timestamp', gatewayRequest(ANNA, PARTS, { 'x-api-timestamp': undefined }), 400],
  ['no signature', gatewayRequest(ANNA, PARTS, { 'x-api-signature': undefined }), 400],
  ['a timestamp of letters', gatewayRequest(ANNA, PARTS, { 'x-api-timestamp': 'now' }), 400],
  ['one parameter', gatewayRequest(ANNA, { ...PARTS, query: 'a=1' }), 400],
  ['a body that is no object', gatewayRequest(ANNA, { ...PARTS, body: '[]' }), 400],
  ['a body that is no JSON', gatewayRequest(ANNA, { ...PARTS, body: '{' }), 400],
  ['a body nested a thousand deep', gatewayRequest(ANNA, { ...PARTS, body: DEEP }), 400],
  [
    'a form',
    gatewayRequest(ANNA, PARTS, { 'content-type': 'application/x-www-form-urlencoded' }),
    400,
  ],
])('%s is answered with its HTTP status', async (_what, request, status) => {
  expect(await ask(request)).toMatchObject({ status, code: String(status), data: null })
})

test('a parameter with the name of a signed entry is a bad request', async () => {
  const request = { ...gatewayRequest(ANNA, PARTS), query: 'body=1&a=1' }

  expect((await ask(request)).status).toBe(400)
})

test('the limit is a setting, and is answered with 429', async () => {
  const bench = await ExchangeBench.open({ wire: { gatewayLimit: { calls: 3, perMs: 500 } } })
  const statuses = [0, 0, 0, 0, 500].map((ms) => {
    bench.now += ms
    return bench.ask(ANNA, PARTS).status
  })

  expect(statuses).toEqual([200, 200, 200, 429, 200])
})

test('bad requests stay 400 where business errors are answered with 200', async () => {
  const bench = await ExchangeBench.open({ wire: { businessErrorStatus: 200 } })

  expect(bench.ask(ANNA, { ...PARTS, query: 'a=1' }).status).toBe(400)
})
