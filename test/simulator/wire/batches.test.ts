import { expect, test } from 'vitest'
import { describeEndpoint } from '../../../src/protocol/describe-endpoint.ts'
import { batches } from '../../../src/simulator/wire/checks/batches.ts'
import { servedNames, servedRow } from '../../../src/simulator/wire/served-rows.ts'
import { ALICE } from './fake-core.ts'
import { BATCH_BODY, GOOD_REQUEST_OF, signedRequest } from './signed-request.ts'
import { WireBench } from './wire-bench.ts'

const order = BATCH_BODY.orderList[0]

interface Failure {
  readonly clientOid?: string
  readonly errorMsg?: string
  readonly errorCode?: string
}

/** Sends a list of items to a batch, among fields that are right. */
function ask(bench: WireBench, name: keyof typeof batches, items: unknown) {
  const { path } = servedRow(name)
  const body = { ...(GOOD_REQUEST_OF[name].body as object), [batches[name]?.list ?? '']: items }
  const answer = bench.ask(signedRequest(ALICE, { method: 'POST', path, body }))
  const { successList = [], failureList = [] } = (answer.data ?? {}) as {
    successList?: { clientOid: string }[]
    failureList?: Failure[]
  }
  return { ...answer, successList, failureList }
}

test.each([
  ['a size of zero', { size: '0' }, '40020', 'Parameter size error'],
  ['a size below zero', { size: '-1' }, '40020', 'Parameter size error'],
  ['no size', { size: undefined }, '40019', 'Parameter size cannot be empty'],
  ['a size that is a number', { size: 1 }, '40020', 'Parameter size error'],
  [
    'a limit order without a price',
    { price: undefined },
    '40019',
    'Parameter price cannot be empty',
  ],
  ['an empty price', { price: '' }, '40019', 'Parameter price cannot be empty'],
  ['a price that is no number', { price: 'ten' }, '40020', 'Parameter price error'],
  ['no side', { side: undefined }, '40019', 'Parameter side cannot be empty'],
  ['a side of no kind', { side: 'bye' }, '400172', 'Parameter verification failed side'],
  ['a side that is a number', { side: 1 }, '40020', 'Parameter side error'],
  [
    'an orderType of no kind',
    { orderType: 'stop' },
    '400172',
    'Parameter verification failed orderType',
  ],
  ['a force of no kind', { force: 'day' }, '400172', 'Parameter verification failed force'],
  [
    'a tradeSide of no kind',
    { tradeSide: 'both' },
    '400172',
    'Parameter verification failed tradeSide',
  ],
  ['a reduceOnly of no kind', { reduceOnly: true }, '40020', 'Parameter reduceOnly error'],
  ['an stpMode of no kind', { stpMode: 'all' }, '400172', 'Parameter verification failed stpMode'],
  [
    'a preset that is no number',
    { presetStopLossPrice: 'x' },
    '40020',
    'Parameter presetStopLossPrice error',
  ],
])(
  'an order with %s stands in failureList, and the others are placed',
  (_what, change, errorCode, errorMsg) => {
    const bench = new WireBench()
    const bad = { ...order, clientOid: 'bad', ...change }

    const answer = ask(bench, 'batchPlaceOrder', [order, bad, { ...order, clientOid: 'two' }])

    expect(answer).toMatchObject({ status: 200, code: '00000', msg: 'success' })
    expect(answer.successList.map(({ clientOid }) => clientOid)).toEqual(['one', 'two'])
    expect(answer.failureList).toEqual([{ orderId: '', clientOid: 'bad', errorMsg, errorCode }])
    expect(bench.core.calls[0]?.request).toMatchObject({ orderList: [order, { clientOid: 'two' }] })
  },
)

test.each([
  ['of 50 letters', 'a'.repeat(50)],
  ['of letters that no client writes', 'a/b'],
  ['that is a number', 7],
])(
  'an order with a clientOid %s stands in failureList under the clientOid that was sent',
  (_what, clientOid) => {
    const answer = ask(new WireBench(), 'batchPlaceOrder', [{ ...order, clientOid }, order])

    expect(answer.successList).toHaveLength(1)
    expect(answer.failureList).toEqual([
      {
        orderId: '',
        clientOid: String(clientOid),
        errorMsg: 'Parameter clientOid error',
        errorCode: '40020',
      },
    ])
  },
)

test('an item that is no object is one that failed', () => {
  const answer = ask(new WireBench(), 'batchPlaceOrder', [null, 5, 'x', [], order])

  expect(answer.successList).toHaveLength(1)
  expect(answer.failureList).toEqual(
    Array(4).fill({
      orderId: '',
      clientOid: '',
      errorMsg: 'Parameter orderList error',
      errorCode: '40020',
    }),
  )
})

test('a batch of which no item is right is still an answer, and asks the exchange what it says of the rest', () => {
  const bench = new WireBench()
  const all = ask(bench, 'batchPlaceOrder', [{}, { ...order, size: '0' }])
  bench.core.refusal = { code: '40034', message: 'Parameter XRPUSDT does not exist' }
  bench.now += 1000
  const refused = ask(bench, 'batchPlaceOrder', [{ ...order, size: '0' }])

  expect(all).toMatchObject({ code: '00000', successList: [] })
  expect(all.failureList).toHaveLength(2)
  expect(refused).toMatchObject({ status: 400, code: '40034', data: null })
})

test.each([
  ['no list', undefined, '40019'],
  ['a list that is none', 'x', '40020'],
  ['an empty list', [], '40019'],
  ['51 items, one of them malformed', [{}, ...Array<object>(50).fill(order)], '40306'],
])('%s refuses the whole request', (_what, list, code) => {
  const bench = new WireBench()

  expect(ask(bench, 'batchPlaceOrder', list)).toMatchObject({ status: 400, code, data: null })
  expect(bench.core.calls).toEqual([])
})

test('a fault of the request itself refuses all of it, whatever its items are', () => {
  const bench = new WireBench()
  const body = { ...BATCH_BODY, marginMode: 'both', orderList: [{ ...order, size: '0' }] }
  const { path } = servedRow('batchPlaceOrder')

  const answer = bench.ask(signedRequest(ALICE, { method: 'POST', path, body }))

  expect(answer).toMatchObject({
    status: 400,
    code: '400172',
    msg: 'Parameter verification failed marginMode',
  })
})

test('where unknown parameters are refused, one of an item is refused with its item', () => {
  const bench = new WireBench({ unknownParameters: 'refuse' })

  const answer = ask(bench, 'batchPlaceOrder', [
    { ...order, leverage: '5' },
    { ...order, clientOid: 'two' },
  ])

  expect(answer.failureList).toMatchObject([{ clientOid: 'one', errorCode: '40017' }])
  expect(answer.successList).toMatchObject([{ clientOid: 'two' }])
})

test('a cancel that names no order, or in no form of an id, fails alone', () => {
  const bench = new WireBench()
  const items = [
    { orderId: '1' },
    {},
    { orderId: 'x', clientOid: 'mine' },
    { clientId: 'a', clientOid: 'b' },
  ]

  const isolated = ask(bench, 'isolatedBatchCancelOrders', items)
  const futures = ask(bench, 'batchCancelOrders', items.slice(0, 3))
  const plans = ask(bench, 'cancelPlanOrder', [{ orderId: 1 }, { orderId: '2' }])

  // Document: failureList item, isolated margin batch cancel: clientOid and errorMsg.
  expect(isolated.failureList).toEqual([
    { clientOid: '', errorMsg: 'Parameter orderId cannot be empty' },
    { clientOid: 'mine', errorMsg: 'Parameter orderId error' },
    {
      clientOid: 'b',
      errorMsg:
        'Parameter verification failed clientOid and clientId are two names of one field and must agree',
    },
  ])
  expect(bench.core.calls[0]?.request).toMatchObject({ orderIdList: [{ orderId: '1' }] })
  expect(futures.failureList).toEqual([
    { orderId: 'x', clientOid: 'mine', errorMsg: 'Parameter orderId error', errorCode: '40020' },
  ])
  expect(plans.failureList).toMatchObject([{ orderId: '1', errorCode: '40020' }])
})

test('a sub-account’s alias that is none fails alone', () => {
  const bench = new WireBench()

  const answer = ask(bench, 'createVirtualSubaccounts', ['alphabet', 'short', 12_345_678])

  expect(answer).toMatchObject({ code: '00000' })
  expect(answer.failureList).toEqual([
    { subaAccountName: 'short' },
    { subaAccountName: '12345678' },
  ])
  expect(bench.core.calls[0]?.request).toEqual({ subAccountList: ['alphabet'] })
})

test('every row that takes a list and answers a failureList is a batch', () => {
  const rows = servedNames.filter((name) => {
    const { parameters, answer } = describeEndpoint(servedRow(name))
    const hasList = parameters.some(({ type }) => type === 'list')
    return hasList && answer.some((field) => field.name === 'failureList')
  })

  expect(rows.toSorted()).toEqual(Object.keys(batches).toSorted())
})
