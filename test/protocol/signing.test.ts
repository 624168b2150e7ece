import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  formatQuery,
  readQuery,
  SCHEME_B_HEADERS,
  SCHEME_B_TOLERANCE_MS,
  signSchemeA,
  signSchemeB,
} from '../../src/protocol/signing.ts'

const BATCH =
  '{"productType":"USDT-FUTURES","symbol":"BTCUSDT","marginCoin":"USDT","marginMode":"crossed","orderList":' +
  '[{"size":"0.01","price":"42000","side":"buy","orderType":"limit","force":"ioc","clientOid":"t0abc-0"}]}'

/** Signatures that other clients of the exchange compute for the same request. */
const VECTORS = [
  {
    from: 'the digest test of XChange (MIT)',
    secret: 'secret',
    timestamp: '1725040472073',
    method: 'GET',
    path: '/api/v2/spot/account/assets',
    query: '',
    body: '',
    signature: 'p8vWylxL4JJCyy6B81n82ZEySiWChClCw99FTDocviA=',
  },
  {
    from: 'ccxt 4.5.83, a GET with a query',
    secret: 'top-secret-0123456789',
    timestamp: '1750000000123',
    method: 'GET',
    path: '/api/v2/mix/order/fills',
    query: 'limit=100&productType=USDT-FUTURES&symbol=BTCUSDT',
    body: '',
    signature: 'guBeT2xvVYZq7JhRXuxoP9mURRqpiIF+HoRz84H4xTc=',
  },
  {
    from: 'ccxt 4.5.83, a POST with a body',
    secret: 'top-secret-0123456789',
    timestamp: '1750000000123',
    method: 'POST',
    path: '/api/v2/mix/order/cancel-all-orders',
    query: '',
    body: '{"productType":"USDT-FUTURES","marginCoin":"USDT"}',
    signature: '0n+SM7J5fupuKBcgVmHF2gJZnRFLhoGVc3dU/Fdk8nw=',
  },
  {
    from: 'the prehash of the vendor’s own page: market depth',
    secret: 'test-secret',
    timestamp: '16273667805456',
    method: 'GET',
    path: '/api/v2/mix/market/depth',
    query: 'limit=20&symbol=BTCUSDT',
    body: '',
    signature: 'XqiyW4xYajQV2douGvPnaUg8klBk4XAfRhMHzJXi01k=',
  },
  {
    from: 'a position read',
    secret: 'test-secret',
    timestamp: '1700000000000',
    method: 'GET',
    path: '/api/v2/mix/position/single-position',
    query: 'marginCoin=USDT&productType=USDT-FUTURES&symbol=BTCUSDT',
    body: '',
    signature: 'QiK6FqptfjHMJibBnsT4PrYpu5XGBD27Z7TMKqDZ9LU=',
  },
  {
    from: 'a batch',
    secret: 'test-secret',
    timestamp: '1700000000000',
    method: 'POST',
    path: '/api/v2/mix/order/batch-place-order',
    query: '',
    body: BATCH,
    signature: 'EtuILc9iT2ObdQBaIlCLxgO88tPoOeviAsNk9nT6CNY=',
  },
] as const

describe('signing by scheme A', () => {
  for (const { from, secret, signature, ...request } of VECTORS) {
    it(`agrees with ${from}`, () => {
      expect(signSchemeA(secret, request)).toBe(signature)
      expect(signSchemeA(createSecretKey(secret, 'utf8'), request)).toBe(signature)
    })
  }

  it('signs every byte of the body', () => {
    const request = { timestamp: '1700000000000', method: 'POST', path: '/p', query: '' } as const
    const signatures = ['{}', '{ }', '', '{"a":"ü"}'].map((body) =>
      signSchemeA('k', { ...request, body }),
    )
    expect(new Set(signatures).size).toBe(4)
  })
})

/** Computed by an independent program in another language, from the document's four steps alone. */
const SCHEME_B_VECTORS = [
  {
    what: 'two query parameters and a body',
    secret: 'test-secret',
    query: { b: '2', a: '1' },
    body: '{"amount":"1"}',
    apiKey: 'test-key',
    timestamp: '1700000000000',
    signature: 'oGTkBGjs25q15SmNJPxVaMXhPhA9Qyeem8qcPGSOqg8=',
  },
  {
    what: 'a body with quotes, a backslash and an umlaut, its keys as they came',
    secret: 'test-secret',
    query: { zone: 'eu', page: '10' },
    body: String.raw`{"z":1,"a":{"text":"\"quoted\" \\ und ü"}}`,
    apiKey: 'k-123',
    timestamp: '1700000000123',
    signature: 'o5mRAsMAMvQskrotAoQfXCZRvdoJK/f9CqWoyl+KjAI=',
  },
  {
    what: 'parameters whose names are numbers, in the order of the alphabet',
    secret: 'another secret',
    query: { 9: 'y', 10: 'x' },
    body: '{}',
    apiKey: 'KEY',
    timestamp: '1750000000999',
    signature: 'LiXIsNML35lUmwxbpWO6w0ElTtSMJA814C1g/Y3Awyo=',
  },
  {
    what: 'neither query nor body',
    secret: 'another secret',
    query: {},
    body: '',
    apiKey: 'KEY',
    timestamp: '1750000000999',
    signature: '6WSDb3z00kmTUmHYJKd4l+VIA7TknBsx7M5zvkmmy8I=',
  },
] as const

describe('signing by scheme B', () => {
  for (const { what, secret, signature, ...request } of SCHEME_B_VECTORS) {
    it(`agrees with an independent program: ${what}`, () => {
      expect(signSchemeB(secret, { ...request, apiPath: '/swap/api/test' })).toBe(signature)
      const key = createSecretKey(secret, 'utf8')
      expect(signSchemeB(key, { ...request, apiPath: '/swap/api/test' })).toBe(signature)
    })
  }

  it('signs the path, every parameter, the body, the key and the time', () => {
    const request = { apiPath: '/p', query: { a: '1' }, body: '{}', apiKey: 'k', timestamp: '1' }
    const changes = [
      {},
      { apiPath: '/q' },
      { query: { a: '2' } },
      { query: { b: '1' } },
      { body: '{ }' },
      { apiKey: 'l' },
      { timestamp: '2' },
    ]
    const signatures = changes.map((change) => signSchemeB('s', { ...request, ...change }))
    expect(new Set(signatures).size).toBe(changes.length)
  })

  it('refuses a query parameter that would hide another entry', () => {
    const request = { apiPath: '/p', body: '', apiKey: 'k', timestamp: '1' }
    for (const name of ['apiPath', 'body', 'x-api-key', 'x-api-timestamp']) {
      expect(() => signSchemeB('s', { ...request, query: { [name]: '1' } }), name).toThrow(name)
    }
  })

  it('has the headers and the tolerance of the document', () => {
    expect(Object.values(SCHEME_B_HEADERS)).toEqual([
      'x-api-key',
      'x-api-timestamp',
      'x-api-signature',
    ])
    expect(SCHEME_B_TOLERANCE_MS).toBe(600_000)
  })
})

describe('the query under the signature', () => {
  it('stands in ascending order of its keys, without what is undefined', () => {
    const query = formatQuery({
      symbol: 'BTCUSDT',
      limit: '100',
      idLessThan: undefined,
      productType: 'A-B',
    })
    expect(query).toBe('limit=100&productType=A-B&symbol=BTCUSDT')
    expect(formatQuery({})).toBe('')
  })

  it('is read back as it was written', () => {
    const parameters = { a: '1', b: 'x-y_z', c: '' }
    expect(readQuery(formatQuery(parameters))).toEqual(parameters)
    expect(readQuery('')).toEqual({})
  })

  it('refuses characters that clients encode differently', () => {
    for (const value of ['a b', 'a+b', 'a#b', 'a:b', 'a/b', 'a%20b', 'ü', 'a&b=c']) {
      expect(() => formatQuery({ clientOid: value }), value).toThrow('clientOid')
    }
  })
})
