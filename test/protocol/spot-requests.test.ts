import { describeRequest } from './request-rules.ts'

const DAY_MS = 24 * 3_600_000
const NOW = 1_700_000_000_000
const daysAgo = (days: number) => String(NOW - days * DAY_MS)

describeRequest(
  'spotHistoryOrders',
  {},
  {
    context: { positionMode: 'one_way_mode', now: NOW },
    accepted: [
      ['nothing at all', {}],
      ['a page', { symbol: 'BTCUSDT', limit: '100', idLessThan: '123', tpslType: 'tpsl' }],
      ['90 days back', { startTime: daysAgo(90), endTime: daysAgo(0) }],
      ['the widest window', { requestTime: daysAgo(0), receiveWindow: '60000' }],
    ],
    refused: [
      [
        'a start 91 days back',
        { startTime: daysAgo(91) },
        /startTime must lie within the last 90 days/,
      ],
      ['an end 91 days back', { endTime: daysAgo(91) }, /endTime must lie within the last 90 days/],
      ['a page of 101', { limit: '101' }, /limit is 1 to 100/],
      ['a page of 0', { limit: '0' }, /limit is 1 to 100/],
      ['another type', { tpslType: 'stop' }, /tpslType/],
      ['a window above 60 s', { receiveWindow: '60001' }, /receiveWindow must not exceed 60 s/],
      ['a window of six digits', { receiveWindow: '100000' }, /receiveWindow must not exceed 60 s/],
      ['a parameter that does not exist', { clientOid: 'a' }, /clientOid/],
    ],
  },
)

describeRequest(
  'spotHistoryOrders',
  {},
  {
    accepted: [['any start while the time is not known', { startTime: daysAgo(1000) }]],
    refused: [],
  },
)

describeRequest(
  'spotOrderInfo',
  { orderId: '123' },
  {
    accepted: [
      ['an orderId', {}],
      ['a clientOid', { orderId: undefined, clientOid: 'mine' }],
      ['a window', { requestTime: '1700000000000', receiveWindow: '5000' }],
    ],
    refused: [
      ['neither id', { orderId: undefined }, /one of orderId and clientOid is required/],
      ['an orderId of letters', { orderId: 'abc' }, /an identifier of digits/],
      ['a window above 60 s', { receiveWindow: '60001' }, /must not exceed 60 s/],
    ],
  },
)

describeRequest(
  'spotSymbols',
  {},
  {
    accepted: [
      ['no symbol', {}],
      ['a symbol', { symbol: 'BTCUSDT' }],
      ['a blank one: all', { symbol: '' }],
    ],
    refused: [['a symbol in lower case', { symbol: 'btcusdt' }, /symbol/]],
  },
)

const ON_CHAIN = {
  coin: 'USDT',
  transferType: 'on_chain',
  address: '0xab',
  chain: 'erc20',
  size: '10.5',
}

describeRequest('spotWithdrawal', ON_CHAIN, {
  accepted: [
    ['a chain', {}],
    ['a tag, a note and an id', { tag: '12', remark: 'rent', clientOid: 'w-1' }],
    ['a long Lightning invoice', { address: `lnbc${'x'.repeat(1200)}`, chain: 'LIGHTNING' }],
  ],
  refused: [
    ['no chain', { chain: undefined }, /chain must be sent when transferType is on_chain/],
    ['no address', { address: undefined }, /address/],
    ['an empty address', { address: '' }, /address must not be empty/],
    ['no coin', { coin: undefined }, /coin/],
    ['another transfer type', { transferType: 'chain' }, /transferType/],
    ['a size of zero', { size: '0' }, /size: .*positive decimal/],
    ['a size that is a number', { size: 1 }, /size/],
    ['a parameter that does not exist', { fee: '1' }, /fee/],
  ],
})

describeRequest(
  'spotWithdrawal',
  { coin: 'USDT', transferType: 'internal_transfer', address: '123456', size: '1' },
  {
    accepted: [
      ['a UID by default', {}],
      ['an e-mail', { innerToType: 'email', address: 'a@example.org' }],
      [
        'a mobile number with its area',
        { innerToType: 'mobile', address: '5551234', areaCode: '86' },
      ],
    ],
    refused: [
      [
        'a UID of letters',
        { address: 'abc' },
        /address must be a UID of digits when innerToType is uid/,
      ],
      ['an e-mail without @', { innerToType: 'email' }, /address must be an e-mail/],
      [
        'a mobile number without area',
        { innerToType: 'mobile', address: '5551234' },
        /areaCode is required when innerToType is mobile/,
      ],
      [
        'a mobile number of letters',
        { innerToType: 'mobile', address: 'abcdef', areaCode: '86' },
        /address must be a mobile number/,
      ],
      ['another address type', { innerToType: 'phone' }, /innerToType/],
    ],
  },
)
