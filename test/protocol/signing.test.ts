import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formatQuery, signSchemeA } from '../../src/protocol/signing.ts'

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
    const signatures = ['{}', '{ }', '', '{"a":"ü"}'].map((body) => signSchemeA('k', { ...request, body }))
    expect(new Set(signatures).size).toBe(4)
  })
})

describe('the query under the signature', () => {
  it('stands in ascending order of its keys, without what is undefined', () => {
    const query = formatQuery({ symbol: 'BTCUSDT', limit: '100', idLessThan: undefined, productType: 'A-B' })
    expect(query).toBe('limit=100&productType=A-B&symbol=BTCUSDT')
    expect(formatQuery({})).toBe('')
  })

  it('refuses characters that clients encode differently', () => {
    for (const value of ['a b', 'a+b', 'a#b', 'a:b', 'a/b', 'a%20b', 'ü', 'a&b=c']) {
      expect(() => formatQuery({ clientOid: value }), value).toThrow('clientOid')
    }
  })
})
