import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { authenticate } from '../../../src/simulator/wire/checks/authenticate.ts'
import { type ReceivedRequest } from '../../../src/simulator/wire/wire-request.ts'
import { ALICE } from './fake-core.ts'
import { BATCH_BODY, BATCH_PATH, FILLS_PATH, signedRequest, START_AT } from './signed-request.ts'
import { WireBench } from './wire-bench.ts'

const FILLS = { path: FILLS_PATH, query: 'productType=USDT-FUTURES&symbol=BTCUSDT' }

/** Signatures that other clients computed: what they were given, and what came out. */
const VECTORS = [
  {
    by: 'a Java client',
    secret: 'secret',
    timestamp: '1725040472073',
    method: 'GET',
    path: '/api/v2/spot/account/assets',
    query: '',
    body: '',
    sign: 'p8vWylxL4JJCyy6B81n82ZEySiWChClCw99FTDocviA=',
  },
  {
    by: 'a unified client, GET',
    secret: 'top-secret-0123456789',
    timestamp: '1750000000123',
    method: 'GET',
    path: '/api/v2/mix/order/fills',
    query: 'limit=100&productType=USDT-FUTURES&symbol=BTCUSDT',
    body: '',
    sign: 'guBeT2xvVYZq7JhRXuxoP9mURRqpiIF+HoRz84H4xTc=',
  },
  {
    by: 'a unified client, POST',
    secret: 'top-secret-0123456789',
    timestamp: '1750000000123',
    method: 'POST',
    path: '/api/v2/mix/order/cancel-all-orders',
    query: '',
    body: '{"productType":"USDT-FUTURES","marginCoin":"USDT"}',
    sign: '0n+SM7J5fupuKBcgVmHF2gJZnRFLhoGVc3dU/Fdk8nw=',
  },
] as const

test.each(VECTORS)('the signature of $by is accepted', ({ secret, timestamp, sign, ...parts }) => {
  const headers = {
    'access-key': ALICE.key,
    'access-sign': sign,
    'access-timestamp': timestamp,
    'access-passphrase': ALICE.passphrase,
  }
  const request: ReceivedRequest = { ...parts, headers, remoteAddress: '127.0.0.1' }

  const result = authenticate(request, {
    accountByKey: () => ({ ...ALICE, secret }),
    toleranceMs: 30_000,
    now: Number(timestamp),
  })

  expect(result).toMatchObject({ ok: true })
})

const REFUSED = [
  ['no key', { 'access-key': undefined }, '40006'],
  [
    'an unknown key, whatever the signature',
    { 'access-key': 'nobody', 'access-sign': undefined },
    '40037',
  ],
  ['no signature', { 'access-sign': undefined }, '40002'],
  ['no timestamp', { 'access-timestamp': undefined }, '40003'],
  ['a timestamp that is no integer', { 'access-timestamp': '1700000000.5' }, '40005'],
  [
    'a stale timestamp, before its signature',
    { 'access-timestamp': '1', 'access-sign': 'x' },
    '40008',
  ],
  ['a wrong signature', { 'access-sign': 'QiK6FqptfjHMJibBnsT4PrYpu5XGBD27Z7TMKqDZ9LU=' }, '40009'],
  ['no passphrase', { 'access-passphrase': undefined }, '40011'],
  ['a wrong passphrase', { 'access-passphrase': 'guess' }, '40012'],
] as const

test.each(REFUSED)('%s is refused with HTTP 400', (_what, headers, code) => {
  const bench = new WireBench()

  const answer = bench.ask(signedRequest(ALICE, FILLS, headers))

  expect(answer).toMatchObject({ status: 400, code, data: null, requestTime: START_AT })
  expect(bench.core.calls).toEqual([])
})

test.each([
  ['30 s old', -30_000, '00000'],
  ['30 s ahead', 30_000, '00000'],
  ['a millisecond older than that', -30_001, '40008'],
  ['a millisecond further ahead', 30_001, '40008'],
])('a timestamp %s gets %s', (_what, offsetMs, code) => {
  const bench = new WireBench()
  const request = signedRequest(ALICE, { ...FILLS, at: START_AT + offsetMs })

  expect(bench.ask(request).code).toBe(code)
})

test.each([
  ['no particular environment', undefined, '1', true],
  ['no particular environment', undefined, undefined, true],
  ['the demo environment', true, '1', true],
  ['the demo environment', true, undefined, false],
  ['the demo environment', true, '0', false],
  ['real money', false, undefined, true],
  ['real money', false, '1', false],
])('a key of %s (%s), with the header %s', (_what, isDemo, paptrading, isAccepted) => {
  const { method, path, query, body, headers, remoteAddress } = signedRequest(ALICE, FILLS)
  const request = { method, path, query, body, remoteAddress, headers: { ...headers, paptrading } }

  const result = authenticate(request, {
    accountByKey: () => ({ ...ALICE, ...(isDemo !== undefined && { isDemo }) }),
    toleranceMs: 30_000,
    now: START_AT,
  })

  expect(result).toMatchObject(isAccepted ? { ok: true } : { ok: false, code: '40099' })
})

test('a signature counts over the query as it stands on the wire, and over its decoded values', () => {
  const bench = new WireBench()
  const query = 'productType=USDT%2DFUTURES'
  const overDecoded = createHmac('sha256', ALICE.secret)
    .update(`${START_AT}GET${FILLS_PATH}?productType=USDT-FUTURES`)
    .digest('base64')

  const raw = bench.ask(signedRequest(ALICE, { path: FILLS_PATH, query }))
  const decoded = bench.ask(
    signedRequest(ALICE, { path: FILLS_PATH, query }, { 'access-sign': overDecoded }),
  )

  expect([raw.code, decoded.code]).toEqual(['00000', '00000'])
})

test('a signature over the sorted query does not cover an unsorted one', () => {
  const bench = new WireBench()
  const good = signedRequest(ALICE, FILLS)

  const answer = bench.ask({ ...good, query: 'symbol=BTCUSDT&productType=USDT-FUTURES' })

  expect(answer.code).toBe('40009')
})

test('a body that was changed after signing is refused, down to a blank', () => {
  const bench = new WireBench()
  const good = signedRequest(ALICE, { method: 'POST', path: BATCH_PATH, body: BATCH_BODY })

  const answer = bench.ask({ ...good, body: `${good.body} ` })

  expect(answer.code).toBe('40009')
})

test('a query that is no valid percent-encoding is refused, not an error', () => {
  const bench = new WireBench()
  const good = signedRequest(ALICE, FILLS)

  const answer = bench.ask({ ...good, query: 'productType=%E0%A4%A' })

  expect(answer).toMatchObject({ status: 400, code: '40009' })
})

test('a refusal tells neither the secret nor the passphrase', () => {
  const bench = new WireBench()

  for (const [, headers] of REFUSED) bench.ask(signedRequest(ALICE, FILLS, headers))

  const said = JSON.stringify(bench.events)
  expect(said).not.toContain(ALICE.secret)
  expect(said).not.toContain(ALICE.passphrase)
})
