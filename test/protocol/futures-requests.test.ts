import { describe, expect, it } from 'vitest'
import { type WirePositionMode } from '../../src/protocol/endpoint.ts'
import { describeRequest, type Fields, problemsOf } from './request-rules.ts'

const ORDER = { size: '0.01', price: '42000', side: 'buy', orderType: 'limit', force: 'gtc' }
const BATCH = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}
const order = (change: Fields): Fields => ({ orderList: [{ ...ORDER, ...change }] })
const { price: _price, force: _force, ...MARKET } = { ...ORDER, orderType: 'market' }

describeRequest(
  'batchPlaceOrder',
  { ...BATCH, ...order({}) },
  {
    accepted: [
      ['a limit order', {}],
      ['a market order without price and force', { orderList: [MARKET] }],
      ['a limit order without force: gtc', order({ force: undefined })],
      ['50 orders', { orderList: Array.from({ length: 50 }, () => ORDER) }],
      [
        'every force',
        { orderList: ['gtc', 'ioc', 'fok', 'post_only'].map((force) => ({ ...ORDER, force })) },
      ],
      ['reduce only in one-way mode', order({ reduceOnly: 'YES' })],
      ['empty presets: none', order({ presetStopSurplusPrice: '', presetStopLossPrice: '' })],
      ['every self-trade prevention', order({ stpMode: 'cancel_taker' })],
      ['a clientOid of 32 characters', order({ clientOid: 'a'.repeat(32) })],
      ['a delivery contract', { symbol: 'ETHUSD_231229' }],
    ],
    refused: [
      ['no symbol', { symbol: undefined }, /symbol/],
      ['a symbol in lower case', { symbol: 'btcusdt' }, /symbol: .*capitals/],
      ['another product type', { productType: 'FUTURES' }, /productType/],
      ['a product type in lower case', { productType: 'usdt-futures' }, /productType/],
      ['a margin coin in lower case', { marginCoin: 'usdt' }, /marginCoin: .*capitals/],
      ['another margin mode', { marginMode: 'cross' }, /marginMode/],
      ['no order at all', { orderList: [] }, /orderList/],
      [
        '51 orders',
        { orderList: Array.from({ length: 51 }, () => ORDER) },
        /orderList takes at most 50 items/,
      ],
      [
        'a limit order without price',
        order({ price: undefined }),
        /price is required when orderType is limit/,
      ],
      ['another force', order({ force: 'day' }), /force/],
      ['another side', order({ side: 'long' }), /side/],
      ['another order type', order({ orderType: 'stop' }), /orderType/],
      ['a size that is a number', order({ size: 0.01 }), /size/],
      ['a size of zero', order({ size: '0.000' }), /size: .*positive decimal/],
      ['a negative size', order({ size: '-1' }), /size: .*positive decimal/],
      ['an exponent', order({ price: '1e5' }), /price: .*positive decimal/],
      ['blanks around a price', order({ price: ' 1' }), /price: .*positive decimal/],
      ['a clientOid of 33 characters', order({ clientOid: 'a'.repeat(33) }), /clientOid: 1 to 32/],
      ['a clientOid with a colon', order({ clientOid: 'a:b' }), /clientOid: 1 to 32/],
      ['an empty clientOid', order({ clientOid: '' }), /clientOid: 1 to 32/],
      ['reduceOnly as a boolean', order({ reduceOnly: true }), /reduceOnly/],
      ['another stpMode', order({ stpMode: 'both' }), /stpMode/],
      ['a preset that is no price', order({ presetStopLossPrice: 'x' }), /presetStopLossPrice/],
      ['a parameter that does not exist', { leverage: '5' }, /leverage/],
      ['an order parameter that does not exist', order({ triggerPrice: '1' }), /triggerPrice/],
    ],
  },
)

describe('batchPlaceOrder and the position mode', () => {
  const problems = (change: Fields, mode: WirePositionMode) =>
    problemsOf('batchPlaceOrder', { ...BATCH, ...order(change) }, { positionMode: mode })

  it('tradeSide is required in hedge mode, and must be omitted in one-way mode', () => {
    expect(problems({ tradeSide: 'open' }, 'hedge_mode')).toBe('')
    expect(problems({}, 'hedge_mode')).toBe(
      'orderList.0.tradeSide is required in hedge position mode',
    )
    expect(problems({ tradeSide: 'open' }, 'one_way_mode')).toBe(
      'orderList.0.tradeSide must be omitted in one-way position mode',
    )
  })

  it('reduceOnly is for one-way mode only', () => {
    expect(problems({ tradeSide: 'close', reduceOnly: 'YES' }, 'hedge_mode')).toBe(
      'orderList.0.reduceOnly is for one-way position mode only',
    )
  })

  it('a clientOid must be unique in its batch', () => {
    const orders = ['a', 'b', undefined, 'a', undefined].map((clientOid) => ({
      ...ORDER,
      clientOid,
    }))
    expect(problemsOf('batchPlaceOrder', { ...BATCH, orderList: orders })).toMatch(
      /^orderList\.3\.clientOid must be unique/,
    )
  })

  it('names every order that breaks a rule', () => {
    const request = { ...BATCH, orderList: [ORDER, { ...ORDER, tradeSide: 'open' }, ORDER] }
    expect(problemsOf('batchPlaceOrder', request, { positionMode: 'hedge_mode' })).toMatch(
      /orderList\.0.*orderList\.2/,
    )
  })
})

describeRequest(
  'cancelAllOrders',
  { productType: 'USDT-FUTURES' },
  {
    accepted: [
      ['a product type alone', {}],
      ['one symbol', { symbol: 'BTCUSDT', marginCoin: 'USDT' }],
      ['the widest window', { requestTime: '1700000000000', receiveWindow: '60000' }],
      ['mixed futures with a margin coin', { productType: 'COIN-FUTURES', marginCoin: 'BTC' }],
    ],
    refused: [
      ['no product type', { productType: undefined }, /productType/],
      ['a window above 60 s', { receiveWindow: '60001' }, /receiveWindow must not exceed 60 s/],
      [
        'a request time in seconds with a dot',
        { requestTime: '1700000000.5' },
        /requestTime: Unix milliseconds/,
      ],
      [
        'mixed futures without a margin coin',
        { productType: 'COIN-FUTURES' },
        /marginCoin is required when productType is COIN-FUTURES/,
      ],
      ['a parameter that does not exist', { orderId: '1' }, /orderId/],
    ],
  },
)

const DAY_MS = 24 * 3_600_000
const START = 1_700_000_000_000
const span = (from: string, to: string): Fields => ({
  startTime: String(Date.parse(from)),
  endTime: String(Date.parse(to)),
})

describeRequest(
  'orderFills',
  { productType: 'USDT-FUTURES' },
  {
    accepted: [
      ['a product type alone', {}],
      ['a page', { symbol: 'BTCUSDT', idLessThan: '123', limit: '100', startTime: String(START) }],
      ['three months', { startTime: String(START), endTime: String(START + 89 * DAY_MS) }],
      ['three calendar months, 92 days', span('2026-05-31', '2026-08-31')],
      ['three calendar months into a short one', span('2026-11-30', '2027-02-28')],
      ['an end alone', { endTime: String(START) }],
    ],
    refused: [
      ['no product type', { productType: undefined }, /productType/],
      ['a page of 101', { limit: '101' }, /limit is 1 to 100/],
      ['a page of 0', { limit: '0' }, /limit is 1 to 100/],
      ['a limit that is a number', { limit: 100 }, /limit/],
      [
        'more than three months',
        { startTime: String(START), endTime: String(START + 94 * DAY_MS) },
        /at most three months apart/,
      ],
      [
        'a day more than three months',
        span('2026-11-30', '2027-03-01'),
        /startTime and endTime may be at most three months apart/,
      ],
      ['a cursor that is no id', { idLessThan: 'abc' }, /idLessThan: an identifier of digits/],
      ['a parameter that does not exist', { idGreaterThan: '1' }, /idGreaterThan/],
    ],
  },
)

describeRequest(
  'singlePosition',
  { productType: 'USDT-FUTURES', symbol: 'BTCUSDT', marginCoin: 'USDT' },
  {
    accepted: [['all three', {}]],
    refused: [
      ['no product type', { productType: undefined }, /productType/],
      ['no symbol', { symbol: undefined }, /symbol/],
      ['no margin coin', { marginCoin: undefined }, /marginCoin/],
      ['a margin coin that is not capitalised', { marginCoin: 'Usdt' }, /marginCoin: .*capitals/],
    ],
  },
)

describeRequest(
  'tickers',
  { productType: 'COIN-FUTURES' },
  {
    accepted: [
      ['a product type', {}],
      ['a demo product type', { productType: 'SUSDT-FUTURES' }],
    ],
    refused: [
      ['no product type', { productType: undefined }, /productType/],
      ['a symbol: there is no such parameter', { symbol: 'BTCUSDT' }, /symbol/],
    ],
  },
)

describeRequest(
  'longShortRatio',
  { symbol: 'BTCUSDT' },
  {
    accepted: [
      ['a symbol alone', {}],
      ['a period and a coin', { period: '30d', coin: 'BTC' }],
    ],
    refused: [
      ['no symbol', { symbol: undefined }, /symbol/],
      ['another period', { period: '7d' }, /period/],
    ],
  },
)
