import { expect, test } from 'vitest'
import { servedRow } from '../../../src/simulator/wire/served-rows.ts'
import { REQUEST_TIME_TEXTS } from '../../../src/simulator/wire/settings.ts'
import { ALICE, CAROL } from './fake-core.ts'
import {
  BATCH_BODY,
  BATCH_PATH,
  CANCEL_ALL_PATH,
  FILLS_PATH,
  GOOD_REQUEST_OF,
  GOOD_REQUESTS,
  MODIFY_PLAN_PATH,
  POSITION_PATH,
  RATIO_PATH,
  requestFor,
  signedRequest,
  START_AT,
  TICKERS_PATH,
} from './signed-request.ts'
import { WireBench } from './wire-bench.ts'

const BATCH = { method: 'POST', path: BATCH_PATH } as const
const CANCEL_ALL = { method: 'POST', path: CANCEL_ALL_PATH } as const
const MODIFY_PLAN = { method: 'POST', path: MODIFY_PLAN_PATH } as const

test.each(GOOD_REQUESTS)('$name answers an envelope whose data satisfies its own row', (parts) => {
  const bench = new WireBench()

  const answer = bench.ask(requestFor(ALICE, parts))

  const { textField = 'msg', response } = servedRow(parts.name)
  const isText = REQUEST_TIME_TEXTS.includes(parts.name)
  expect(answer).toMatchObject({ status: 200, code: '00000', [textField]: 'success' })
  expect(answer.requestTime).toBe(isText ? String(START_AT) : START_AT)
  expect(response.safeParse(answer.data)).toMatchObject({ success: true })
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
})

test('one spot answer has its text under message, and no msg', () => {
  const answer = new WireBench().ask(
    signedRequest(ALICE, { path: '/api/v2/spot/trade/history-orders' }),
  )

  expect(answer).toMatchObject({ code: '00000', message: 'success' })
  expect(answer).not.toHaveProperty('msg')
})

test('the conversion history stands under the platform’s own coin, in small letters, and no other', () => {
  const bench = new WireBench({ platformCoin: 'OWN' })
  const codes = ['own', 'OWN', 'usdt'].map(
    (coin) =>
      bench.ask(signedRequest(ALICE, { path: `/api/v2/convert/${coin}-convert-records` })).code,
  )

  expect(codes).toEqual(['00000', '40404', '40404'])
})

test('what public clients write with capitals is taken in small letters', () => {
  const bench = new WireBench()
  const item = {
    size: '1',
    price: '2',
    side: 'Buy',
    orderType: 'LIMIT',
    force: 'GTC',
    tradeSide: 'Open',
  }

  bench.ask(signedRequest(ALICE, { ...BATCH, body: { ...BATCH_BODY, orderList: [item] } }))

  expect(bench.core.calls[0]?.request).toMatchObject({
    orderList: [{ side: 'buy', orderType: 'limit', force: 'gtc', tradeSide: 'open' }],
  })
})

test('public endpoints are answered without a signature', () => {
  const bench = new WireBench()
  const unsigned = {
    ...signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' }),
    headers: {},
  }

  expect(bench.ask(unsigned).code).toBe('00000')
})

test('the core is asked in the name of the account whose key signed', () => {
  const bench = new WireBench()

  bench.ask(signedRequest(CAROL, { path: FILLS_PATH, query: 'productType=USDT-FUTURES' }))

  expect(bench.core.calls).toEqual([
    { name: 'orderFills', uid: CAROL.uid, request: { productType: 'USDT-FUTURES' } },
  ])
})

test.each([
  ['GET', '/api/v2/mix/order/nothing'],
  ['GET', BATCH_PATH],
  ['POST', TICKERS_PATH],
] as const)('%s %s is an unknown address', (method, path) => {
  const answer = new WireBench().ask(signedRequest(ALICE, { method, path }))

  expect(answer).toMatchObject({
    status: 404,
    code: '40404',
    msg: 'Request URL NOT FOUND',
    data: null,
  })
})

test.each([
  [400, 400],
  [200, 200],
] as const)(
  'a business error has the HTTP status that is set: %i',
  (businessErrorStatus, status) => {
    const bench = new WireBench({ businessErrorStatus })
    bench.core.refusal = { code: '22001', message: 'No order to cancel' }

    const answer = bench.ask(
      signedRequest(ALICE, { ...CANCEL_ALL, body: { productType: 'USDT-FUTURES' } }),
    )

    expect(answer).toMatchObject({ status, code: '22001', msg: 'No order to cancel', data: null })
  },
)

test('an authentication failure stays HTTP 400 where business errors are 200', () => {
  const bench = new WireBench({ businessErrorStatus: 200 })

  const answer = bench.ask(signedRequest(ALICE, { path: FILLS_PATH }, { 'access-sign': 'x' }))

  expect(answer.status).toBe(400)
})

test('a defect of the exchange is HTTP 500 with a code that settles nothing, and is reported', () => {
  const bench = new WireBench()
  bench.core.defect = new Error('a defect')

  const answer = bench.ask(signedRequest(ALICE, { ...BATCH, body: BATCH_BODY }))

  expect(answer).toMatchObject({ status: 500, code: '40725', data: null })
  expect(bench.events).toContainEqual({
    kind: 'handlerFailed',
    endpoint: 'batchPlaceOrder',
    reason: 'a defect',
  })
})

test('what the samples write in lower case is taken: product types and symbols', () => {
  const bench = new WireBench()
  const body = { ...BATCH_BODY, productType: 'usdt-futures', symbol: 'btcusdt' }

  bench.ask(signedRequest(ALICE, { ...BATCH, body }))
  bench.ask(signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=coin-futures' }))

  expect(bench.core.calls.map(({ request }) => request)).toEqual([
    BATCH_BODY,
    { productType: 'COIN-FUTURES' },
  ])
})

test('the sample of the document for trigger orders is taken', () => {
  const bench = new WireBench()
  const body = {
    planType: 'normal_plan',
    orderId: '123',
    symbol: 'ethusdt',
    productType: 'usdt-futures',
    newSize: '3',
    newCallbackRatio: '',
    newPresetStopSurplusPrice: '1',
    newPresetStopLossPrice: '1',
  }

  const answer = bench.ask(signedRequest(ALICE, { ...MODIFY_PLAN, body }))

  expect(answer.code).toBe('00000')
  expect(bench.core.calls[0]?.request).toEqual({
    planType: 'normal_plan',
    orderId: '123',
    symbol: 'ETHUSDT',
    productType: 'USDT-FUTURES',
    newSize: '3',
    newPresetStopSurplusPrice: '1',
    newPresetStopLossPrice: '1',
  })
})

test('an unknown parameter is refused where that is set', () => {
  const bench = new WireBench({ unknownParameters: 'refuse' })

  const answer = bench.ask(
    signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES&extra=1' }),
  )

  expect(answer).toMatchObject({
    status: 400,
    code: '40017',
    msg: 'Parameter verification failed extra',
  })
})

test('a symbol where none belongs breaks a rule; only one that cannot be is unknown', () => {
  const bench = new WireBench()
  const path = '/api/v2/margin/crossed/liquidation-order'
  const ask = (query: string) => bench.ask(signedRequest(ALICE, { path, query }))

  expect(ask('symbol=BTCUSDT&type=swap')).toMatchObject({
    code: '40017',
    msg: 'Parameter verification failed symbol is for type=place_order only',
  })
  expect(ask('symbol=B-T-C')).toMatchObject({
    code: '40034',
    msg: 'Parameter B-T-C does not exist',
  })
})

test('a limit above the maximum is refused, or cut to it where that is set', () => {
  const fills = signedRequest(ALICE, {
    path: FILLS_PATH,
    query: 'limit=101&productType=USDT-FUTURES',
  })
  const refusing = new WireBench()
  const cutting = new WireBench({ limitAboveMaximum: 'cut' })

  expect(refusing.ask(fills)).toMatchObject({ status: 400, code: '40053' })
  expect(cutting.ask(fills).code).toBe('00000')
  expect(cutting.core.calls[0]?.request).toMatchObject({ limit: '100' })
  const zero = signedRequest(ALICE, { path: FILLS_PATH, query: 'limit=0&productType=USDT-FUTURES' })
  expect(cutting.ask(zero).code).toBe('40053')
})

test('a limit order without force is gtc, as the document says', () => {
  const bench = new WireBench()
  const orderList = [{ size: '1', price: '2', side: 'buy', orderType: 'limit' }]

  const answer = bench.ask(signedRequest(ALICE, { ...BATCH, body: { ...BATCH_BODY, orderList } }))

  expect(answer.code).toBe('00000')
  expect(bench.core.calls[0]?.request).toMatchObject({ orderList: [{ force: 'gtc' }] })
})

test('a clientOid in the wider form of other clients is taken as it is', () => {
  const bench = new WireBench()
  const orderList = [
    { ...BATCH_BODY.orderList[0], clientOid: 'x#7:2b1d7a64-4a51-4c39-8d0b-0f5f2f4d9c11' },
  ]

  const answer = bench.ask(signedRequest(ALICE, { ...BATCH, body: { ...BATCH_BODY, orderList } }))

  expect(answer.code).toBe('00000')
  expect(bench.core.calls[0]?.request).toMatchObject({ orderList })
})

const order = BATCH_BODY.orderList[0]

test.each([
  [
    'no product type',
    { ...BATCH_BODY, productType: undefined },
    '40019',
    'Parameter productType cannot be empty',
  ],
  [
    'an empty product type',
    { ...BATCH_BODY, productType: '' },
    '40019',
    'Parameter productType cannot be empty',
  ],
  [
    'a product type of no kind',
    { ...BATCH_BODY, productType: 'X' },
    '400172',
    'Parameter verification failed productType',
  ],
  [
    'a symbol that cannot be one',
    { ...BATCH_BODY, symbol: 'BTC-USDT' },
    '40034',
    'Parameter BTC-USDT does not exist',
  ],
  [
    'an empty batch',
    { ...BATCH_BODY, orderList: [] },
    '40019',
    'Parameter orderList cannot be empty',
  ],
  [
    '51 orders',
    { ...BATCH_BODY, orderList: Array(51).fill(order) },
    '40306',
    'Batch processing orders can only process up to 50',
  ],
  ['a list that is none', { ...BATCH_BODY, orderList: 'x' }, '40020', 'Parameter orderList error'],
] as const)('%s is refused by the name of the parameter', (_what, body, code, msg) => {
  const bench = new WireBench()

  const answer = bench.ask(signedRequest(ALICE, { ...BATCH, body }))

  expect(answer).toMatchObject({ status: 400, code, msg, data: null })
  expect(bench.core.calls).toEqual([])
})

test.each([
  [
    FILLS_PATH,
    'productType=USDT-FUTURES&limit=101',
    '40053',
    'Value range verification failed: limit should be between (0, 100]',
  ],
  [
    FILLS_PATH,
    'productType=USDT-FUTURES&limit=1000',
    '40053',
    'Value range verification failed: limit should be between (0, 100]',
  ],
  [FILLS_PATH, 'productType=USDT-FUTURES&orderId=abc', '40020', 'Parameter orderId error'],
  [FILLS_PATH, '', '40019', 'Parameter productType cannot be empty'],
  [
    POSITION_PATH,
    'productType=USDT-FUTURES&symbol=BTCUSDT',
    '40019',
    'Parameter marginCoin cannot be empty',
  ],
  [RATIO_PATH, 'symbol=BTCUSDT&period=7d', '400172', 'Parameter verification failed period'],
] as const)('%s?%s is refused', (path, query, code, msg) => {
  const answer = new WireBench().ask(signedRequest(ALICE, { path, query }))

  expect(answer).toMatchObject({ status: 400, code, msg })
})

test.each([
  ['a form', 'application/x-www-form-urlencoded', 'a=1'],
  ['no type', undefined, '{}'],
  ['broken JSON', 'application/json', '{"productType":'],
  ['a list', 'application/json', '[]'],
  ['a bare text', 'application/json; charset=utf-8', '"USDT-FUTURES"'],
])('a body that is %s is refused with 40007', (_what, contentType, body) => {
  const request = signedRequest(ALICE, { ...CANCEL_ALL, body }, { 'content-type': contentType })

  expect(new WireBench().ask(request)).toMatchObject({ status: 400, code: '40007' })
})

test('a body that looks like an outcome, or names __proto__, is a body', () => {
  const bench = new WireBench()
  const body =
    '{"ok":false,"status":200,"code":"00000","__proto__":{"x":1},"productType":"USDT-FUTURES"}'

  const answer = bench.ask(signedRequest(ALICE, { ...CANCEL_ALL, body }))

  expect(answer.code).toBe('00000')
  expect(bench.core.calls[0]?.request).toEqual({ productType: 'USDT-FUTURES' })
})

test('a body nested ten thousand deep is no body', () => {
  const bench = new WireBench()
  const deep = '['.repeat(10_000) + ']'.repeat(10_000)

  const answers = [
    `{"productType":"USDT-FUTURES","x":${deep}}`,
    `{"productType":${deep}}`,
    deep,
  ].map((body) => {
    bench.now += 1000
    return bench.ask(signedRequest(ALICE, { ...CANCEL_ALL, body })).code
  })

  expect(answers).toEqual(['40007', '40007', '40007'])
})

test('objects nested in lists, a hundred thousand deep, are no body', () => {
  const bench = new WireBench()
  const deep = '{"a":['.repeat(100_000) + ']}'.repeat(100_000)

  const answer = bench.ask(
    signedRequest(ALICE, { ...CANCEL_ALL, body: `{"productType":"USDT-FUTURES","x":[${deep}]}` }),
  )

  expect(answer.code).toBe('40007')
  expect(bench.events).toMatchObject([{ kind: 'requestRefused', code: '40007' }])
})

test('outside the document a number is taken for its text, and at its own endpoints it is not', () => {
  const bench = new WireBench()
  const plan = { ...(GOOD_REQUEST_OF.placePlanOrder.body as object), triggerPrice: 61_000.5 }

  const outside = bench.ask(
    signedRequest(ALICE, {
      method: 'POST',
      path: '/api/v2/mix/order/place-plan-order',
      body: plan,
    }),
  )
  const inside = bench.ask(
    signedRequest(ALICE, {
      ...MODIFY_PLAN,
      body: { productType: 'USDT-FUTURES', orderId: '1', newTriggerPrice: 61_000.5 },
    }),
  )

  expect([outside.code, inside.code]).toEqual(['00000', '40020'])
  expect(bench.core.calls[0]?.request).toMatchObject({ triggerPrice: '61000.5' })
})

test('a body above the cap is refused with HTTP 413, too many headers with 431', () => {
  const bench = new WireBench({ bodyBytesMax: 100 })
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, '1']))

  const tooLarge = bench.ask(
    signedRequest(ALICE, { ...CANCEL_ALL, body: { productType: 'é'.repeat(50) } }),
  )
  const tooMany = bench.ask(signedRequest(ALICE, { path: FILLS_PATH }, many))

  expect([tooLarge.status, tooMany.status]).toEqual([413, 431])
})

test.each([
  ['within its window', { requestTime: String(START_AT - 5000), receiveWindow: '5000' }, '00000'],
  ['outside its window', { requestTime: String(START_AT - 5001), receiveWindow: '5000' }, '40078'],
  [
    'outside its window in the future',
    { requestTime: String(START_AT + 5001), receiveWindow: '5000' },
    '40078',
  ],
  ['older than the longest window', { requestTime: String(START_AT - 60_001) }, '40078'],
  ['with a window above 60 s', { requestTime: String(START_AT), receiveWindow: '60001' }, '40079'],
  [
    'with a window far above 60 s',
    { requestTime: String(START_AT), receiveWindow: '600000' },
    '40079',
  ],
  [
    'with a window that is a number',
    { requestTime: String(START_AT), receiveWindow: 5000 },
    '40020',
  ],
  ['with a window above 60 s that is a number', { receiveWindow: 70_000 }, '40020'],
  ['with a requestTime that is a number', { requestTime: START_AT }, '40020'],
  ['with a productType that is a number', { productType: 1 }, '40020'],
  ['with a symbol that is a number', { symbol: 1 }, '40020'],
  ['with a marginCoin that is a number', { marginCoin: 1 }, '40020'],
  [
    'with a window that is no number',
    { requestTime: String(START_AT), receiveWindow: 'x' },
    '40020',
  ],
])('a cancel-all %s gets %s', (_what, window, code) => {
  const bench = new WireBench()
  const body = { productType: 'USDT-FUTURES', ...window }

  expect(bench.ask(signedRequest(ALICE, { ...CANCEL_ALL, body })).code).toBe(code)
})

test('tickers are written out once for one market step, and carry the time of each request', () => {
  const bench = new WireBench()
  let written = 0
  const row = { ...bench.core.tickerRows[0], toJSON: () => ({ symbol: `row ${++written}` }) }
  bench.core.tickerRows = [row] as never
  const request = signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' })

  const first = bench.ask(request)
  bench.now += 60
  const second = bench.ask(request)
  bench.core.tickerRows = [row] as never
  const afterStep = bench.ask(request)

  expect([first.data, second.data, afterStep.data]).toEqual([
    [{ symbol: 'row 1' }],
    [{ symbol: 'row 1' }],
    [{ symbol: 'row 2' }],
  ])
  expect(second.requestTime - first.requestTime).toBe(60)
})

test('a clock that steps back does not take the exchange with it', () => {
  const bench = new WireBench()
  const request = signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' })

  bench.ask(request)
  bench.now -= 1000

  expect(bench.ask(request).requestTime).toBe(START_AT)
})

test('requests and refusals are counted', () => {
  const bench = new WireBench()
  const ratio = signedRequest(ALICE, { path: RATIO_PATH, query: 'symbol=BTCUSDT' })

  for (let call = 0; call < 3; call++) bench.ask(ratio)
  bench.ask(signedRequest(ALICE, { path: '/nowhere' }))

  expect(bench.wire.counters()).toMatchObject({
    requests: { longShortRatio: 3, tickers: 0 },
    refusals: { '429': 2, '40404': 1 },
    tooManyRequests: 2,
  })
})
