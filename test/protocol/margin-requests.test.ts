import { describeRequest, type Fields } from './request-rules.ts'

const DAY_MS = 24 * 3_600_000
const START = 1_700_000_000_000
const span = (days: number): Fields => ({
  startTime: String(START),
  endTime: String(START + days * DAY_MS),
})

describeRequest(
  'isolatedOpenOrders',
  { symbol: 'ETHUSDT' },
  {
    accepted: [
      ['a symbol alone', {}],
      ['ids and times', { orderId: '1', clientOid: 'a', ...span(400) }],
      ['a page of 500', { limit: '500' }],
    ],
    refused: [
      ['no symbol', { symbol: undefined }, /symbol/],
      ['a page of 501', { limit: '501' }, /limit is 1 to 500/],
      ['a cursor: it is for cross margin', { idLessThan: '1' }, /idLessThan/],
    ],
  },
)

describeRequest(
  'crossedOpenOrders',
  { symbol: 'ETHUSDT', startTime: String(START) },
  {
    accepted: [
      ['a symbol and a start', {}],
      ['a cursor', { idLessThan: '1' }],
      ['any page: the document shows no maximum', { limit: '1000' }],
    ],
    refused: [
      ['no start', { startTime: undefined }, /startTime/],
      ['no symbol', { symbol: undefined }, /symbol/],
      ['a page of none', { limit: '0' }, /limit: a positive number/],
    ],
  },
)

for (const endpoint of ['isolatedLiquidationOrders', 'crossedLiquidationOrders'] as const) {
  describeRequest(
    endpoint,
    {},
    {
      accepted: [
        ['nothing at all', {}],
        ['orders of a symbol', { type: 'place_order', symbol: 'BTCUSDT' }],
        ['a symbol by default', { symbol: 'BTCUSDT' }],
        ['conversions of coins', { type: 'swap', fromCoin: 'BTC', toCoin: 'USDT' }],
        ['90 days', span(90)],
        ['a page of 500', { limit: '500', idLessThan: '12' }],
      ],
      refused: [
        ['91 days', span(91), /startTime and endTime may be at most 90 days apart/],
        [
          'a symbol of conversions',
          { type: 'swap', symbol: 'BTCUSDT' },
          /symbol is for type=place_order only/,
        ],
        ['coins of orders', { fromCoin: 'BTC' }, /fromCoin is for type=swap only/],
        [
          'a target of orders',
          { type: 'place_order', toCoin: 'BTC' },
          /toCoin is for type=swap only/,
        ],
        ['another type', { type: 'sell' }, /type/],
        ['a page of 501', { limit: '501' }, /limit is 1 to 500/],
      ],
    },
  )
}

describeRequest(
  'isolatedBatchCancelOrders',
  { symbol: 'BTCUSDT', orderIdList: [{ orderId: '1' }] },
  {
    accepted: [
      ['an orderId', {}],
      ['no list: it is optional', { orderIdList: undefined }],
      ['a clientOid in its own name', { orderIdList: [{ clientOid: 'a' }] }],
      ['a clientOid in the sample’s name', { orderIdList: [{ clientId: 'a' }] }],
      ['both names that agree', { orderIdList: [{ clientOid: 'a', clientId: 'a' }] }],
    ],
    refused: [
      ['no symbol', { symbol: undefined }, /symbol/],
      ['an item without an id', { orderIdList: [{}] }, /one of orderId and clientOid is required/],
      [
        'two names that disagree',
        { orderIdList: [{ clientOid: 'a', clientId: 'b' }] },
        /two names of one field and must agree/,
      ],
      ['an empty list', { orderIdList: [] }, /orderIdList/],
    ],
  },
)
