import assert from 'node:assert/strict'
import { type Envelope, type Sdk } from '../clients.ts'
import { type ConformedExchange, type Label } from '../exchange.ts'
import { at, listAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { restingPrice } from './futures-orders.ts'

/** A request that breaks one rule, and the codes that name it. */
type Broken = readonly [title: string, call: () => Promise<Envelope>, ...codes: readonly string[]]
type Parameters = Readonly<Record<string, unknown>>

/** Codes of a parameter that is missing or wrong, by the vendor's table. */
const MISSING = ['40019', '400172', '40017']
const WRONG = ['40020', '400172', '40017', '40034', '40808', '41101', '41103']
/** Refused alone, in a failure list that has no codes. */
const ALONE = 'in failureList'
const RANGE = ['40053', '40020', '40017', '400172']
const SPAN = ['00001', '40017', '40020', '400172', '20001']

const MIX = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const DAY_MS = 86_400_000

/**
 * The rules of the document, broken one at a time. The SDK lets every request through. An order of a batch may
 * be refused with the whole request or alone, in the failure list.
 */
export async function tryRules(report: Report, exchange: ConformedExchange): Promise<void> {
  const sdk = await exchange.sdk('oneWay')
  const hedge = await exchange.sdk('hedge')
  const trader = await exchange.sdk('trader')
  const price = await restingPrice(sdk)
  const planId = await placePlan(sdk, price)
  const rules = [
    ...orderRules({ sdk, hedge, price }),
    ...futuresRules(sdk, exchange, planId),
    ...spotRules(sdk, exchange),
    ...marginRules(sdk, exchange),
    ...accountRules(sdk, trader, exchange),
  ]
  for (const [title, call, ...codes] of rules) {
    await report.try(`rule: ${title}`, async () => {
      const { code, message } = await refusalOf(exchange, call)
      assert.ok(codes.includes(code), `code ${code} ${message}, and not one of ${codes.join(', ')}`)
      return `${code} ${message}`
    })
  }
  await report.try('rule: what was refused has left nothing behind', async () => {
    for (const label of ['oneWay', 'hedge'] as const) await assertNothing(exchange, label)
    return 'no open order, no position, no fill'
  })
}

async function assertNothing(exchange: ConformedExchange, label: Label): Promise<void> {
  const sdk = await exchange.sdk(label)
  const query = { productType: 'USDT-FUTURES' }
  assert.equal(listAt((await sdk.getFuturesOpenOrders(query)).data, 'entrustedList').length, 0)
  assert.equal(listAt((await sdk.getFuturesFills(query)).data, 'fillList').length, 0)
  assert.equal(listAt((await sdk.getFuturesPosition(MIX)).data).length, 0)
}

async function placePlan(sdk: Sdk, price: number): Promise<string> {
  const { data } = await sdk.postPrivate('/api/v2/mix/order/place-plan-order', {
    ...MIX,
    marginMode: 'crossed',
    planType: 'normal_plan',
    size: '0.01',
    side: 'buy',
    orderType: 'market',
    triggerPrice: String(price),
    triggerType: 'mark_price',
  })
  return textAt(data, 'orderId')
}

/** The code and message of the envelope, or of the one order that failed. */
async function refusalOf(exchange: ConformedExchange, call: () => Promise<Envelope>) {
  let answer: Envelope
  try {
    answer = await call()
  } catch (error) {
    const { code, message, status } = exchange.relay.last
    assert.notEqual(code, '', `an answer of the exchange, and not ${String(error)}`)
    assert.equal(status, 400, 'the status of a refusal')
    return { code, message }
  }
  const failures = at(answer.data, 'failureList')
  assert.ok(
    Array.isArray(failures) && failures.length > 0,
    `refused: ${JSON.stringify(answer.data)}`,
  )
  assert.deepEqual(listAt(answer.data, 'successList'), [])
  const [failure] = failures as readonly unknown[]
  const [code, message] = [at(failure, 'errorCode'), at(failure, 'errorMsg')]
  return {
    code: typeof code === 'string' ? code : ALONE,
    message: typeof message === 'string' ? message : JSON.stringify(failure),
  }
}

function orderRules({
  sdk,
  hedge,
  price,
}: {
  readonly sdk: Sdk
  readonly hedge: Sdk
  readonly price: number
}) {
  const place = { ...MIX, marginMode: 'crossed' }
  const good = { size: '0.01', price: String(price), side: 'buy', orderType: 'limit', force: 'gtc' }
  const send = (request: Parameters, client = sdk) => client.futuresBatchSubmitOrders(request)
  const item = (change: Parameters, client = sdk) =>
    send({ ...place, orderList: [{ ...good, ...change }] }, client)
  const head = (change: Parameters) => send({ ...place, orderList: [good], ...change })
  const rules: Broken[] = [
    ['batch without symbol', () => head({ symbol: undefined }), ...MISSING],
    ['batch of an unknown symbol', () => head({ symbol: 'NOSUCHUSDT' }), '40034', '40309', '40102'],
    ['batch without productType', () => head({ productType: undefined }), ...MISSING],
    ['batch of an unknown productType', () => head({ productType: 'EUR-FUTURES' }), ...WRONG],
    [
      'batch, productType of another symbol',
      () => head({ productType: 'COIN-FUTURES' }),
      ...WRONG,
      '40309',
      '40102',
    ],
    ['batch without marginCoin', () => head({ marginCoin: undefined }), ...MISSING],
    ['batch, marginCoin of another symbol', () => head({ marginCoin: 'BTC' }), ...WRONG, '40778'],
    ['batch, marginCoin in lower case', () => head({ marginCoin: 'usdt' }), ...WRONG],
    ['batch without marginMode', () => head({ marginMode: undefined }), ...MISSING],
    ['batch, marginMode cross', () => head({ marginMode: 'cross' }), ...WRONG],
    ['batch without orderList', () => head({ orderList: undefined }), ...MISSING],
    ['batch of no order', () => head({ orderList: [] }), ...MISSING],
    [
      'batch of 51 orders',
      () => head({ orderList: Array.from({ length: 51 }, () => good) }),
      '40306',
    ],
    ['order without size', () => item({ size: undefined }), ...MISSING],
    ['order of size 0', () => item({ size: '0' }), ...WRONG, '45111', '43006'],
    ['order of a negative size', () => item({ size: '-1' }), ...WRONG],
    ['order of size 1e-2', () => item({ size: '1e-2' }), ...WRONG],
    ['order size off the lot', () => item({ size: '0.0105' }), '40808', '22038', '45113', '40921'],
    [
      'order below the least size',
      () => item({ size: '0.0001' }),
      '40808',
      '45111',
      '43006',
      '22038',
    ],
    [
      'order below the least notional',
      () => item({ size: '0.001', price: '4000' }),
      '45110',
      '43008',
      '22006',
      '22007',
    ],
    ['order beyond the balance', () => item({ size: '1000' }), '40762', '40754', '43012', '45002'],
    ['limit order without price', () => item({ price: undefined }), ...MISSING],
    ['order price off the tick', () => item({ price: `${price}.05` }), '45115', '45035', '40808'],
    ['order side long', () => item({ side: 'long' }), ...WRONG],
    ['order without side', () => item({ side: undefined }), ...MISSING],
    ['order type stop', () => item({ orderType: 'stop' }), ...WRONG],
    ['order force day', () => item({ force: 'day' }), ...WRONG],
    ['tradeSide in one-way mode', () => item({ tradeSide: 'open' }), '40774'],
    ['tradeSide missing in hedge mode', () => item({}, hedge), '40774', '400172', '40019', '45021'],
    ['tradeSide reduce in hedge mode', () => item({ tradeSide: 'reduce' }, hedge), ...WRONG],
    ['reduceOnly true', () => item({ reduceOnly: 'true' }), ...WRONG],
    [
      'reduceOnly with no position',
      () => item({ reduceOnly: 'YES' }),
      '22002',
      '43043',
      '40757',
      '40804',
    ],
    [
      'close with no position, hedge',
      () => item({ tradeSide: 'close', orderType: 'market' }, hedge),
      '22002',
      '43043',
      '40757',
      '40804',
    ],
    [
      'clientOid of 65 characters',
      () => item({ clientOid: 'x'.repeat(65) }),
      '40304',
      '40305',
      ...WRONG,
    ],
    ['clientOid of Chinese letters', () => item({ clientOid: '订单' }), '40304', '40305', ...WRONG],
    ['stpMode cancel', () => item({ stpMode: 'cancel' }), ...WRONG],
    ['take-profit that is no price', () => item({ presetStopSurplusPrice: 'high' }), ...WRONG],
    [
      'stop-loss of a buy above it',
      () => item({ presetStopLossPrice: String(price * 2) }),
      '40917',
      '45122',
      '40832',
      '40836',
      '43010',
      '40915',
    ],
    [
      'post only that would take',
      () => item({ force: 'post_only', price: String(Math.floor(price * 1.055)) }),
      '40815',
      '40816',
      '22005',
    ],
  ]
  return rules
}

function futuresRules(sdk: Sdk, exchange: ConformedExchange, planId: string) {
  const cancel = (request: Parameters) =>
    sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES', ...request })
  const modify = (request: Parameters) =>
    sdk.futuresModifyPlanOrder({ productType: 'USDT-FUTURES', ...request })
  const fills = (request: Parameters) =>
    sdk.getFuturesFills({ productType: 'USDT-FUTURES', ...request })
  const position = (request: Parameters) => sdk.getFuturesPosition({ ...MIX, ...request })
  const ratio = (request: Parameters) =>
    sdk.getFuturesLongShortRatio({ symbol: 'BTCUSDT', ...request })
  const now = () => exchange.clock.now()
  const rules: Broken[] = [
    ['cancel all without productType', () => cancel({ productType: undefined }), ...MISSING],
    [
      'cancel all of coin futures without marginCoin',
      () => cancel({ productType: 'COIN-FUTURES' }),
      ...MISSING,
    ],
    [
      'cancel all, receiveWindow over 60 s',
      () => cancel({ requestTime: String(now()), receiveWindow: '60001' }),
      '40079',
    ],
    [
      'cancel all outside its receiveWindow',
      () => cancel({ requestTime: String(now() - 5000), receiveWindow: '3000' }),
      '40078',
    ],
    ['modify without ids', () => modify({ newSize: '0.02' }), ...MISSING, '40017', '40924'],
    [
      'modify without productType',
      () => modify({ productType: undefined, orderId: planId }),
      ...MISSING,
    ],
    [
      'modify an unknown trigger order',
      () => modify({ orderId: '1', newSize: '0.02' }),
      '43001',
      '40109',
      '43025',
      '40768',
      '40034',
    ],
    [
      'modify, callback ratio over 10',
      () => modify({ orderId: planId, newCallbackRatio: '10.1' }),
      ...WRONG,
    ],
    [
      'modify, callback ratio of a trigger order',
      () => modify({ orderId: planId, newCallbackRatio: '2' }),
      ...WRONG,
    ],
    [
      'modify, trigger type without trigger price',
      () => modify({ orderId: planId, newTriggerType: 'fill_price' }),
      ...WRONG,
      ...MISSING,
    ],
    [
      'modify, trigger type last_price',
      () => modify({ orderId: planId, newTriggerPrice: '60000', newTriggerType: 'last_price' }),
      ...WRONG,
    ],
    [
      'modify, price of a market order',
      () => modify({ orderId: planId, newPrice: '60000' }),
      ...WRONG,
    ],
    [
      'modify, take-profit without its type',
      () => modify({ orderId: planId, newStopSurplusTriggerPrice: '99000' }),
      ...WRONG,
      ...MISSING,
    ],
    ['fills without productType', () => fills({ productType: undefined }), ...MISSING],
    ['fills, limit 101', () => fills({ limit: '101' }), ...RANGE],
    ['fills, limit 0', () => fills({ limit: '0' }), ...RANGE],
    [
      'fills over more than three months',
      () => fills({ startTime: String(now() - 100 * DAY_MS), endTime: String(now()) }),
      ...SPAN,
    ],
    ['position without symbol', () => position({ symbol: undefined }), ...MISSING],
    ['position without productType', () => position({ productType: undefined }), ...MISSING],
    ['position without marginCoin', () => position({ marginCoin: undefined }), ...MISSING],
    [
      'position of an unknown symbol',
      () => position({ symbol: 'NOSUCHUSDT' }),
      '40034',
      '40309',
      '40102',
    ],
    ['tickers without productType', () => sdk.getFuturesAllTickers({}), ...MISSING],
    [
      'tickers of an unknown productType',
      () => sdk.getFuturesAllTickers({ productType: 'SPOT' }),
      ...WRONG,
    ],
    ['ratio without symbol', () => ratio({ symbol: undefined }), ...MISSING],
    ['ratio of a week', () => ratio({ period: '7d' }), ...WRONG],
    ['ratio of a coin of another symbol', () => ratio({ coin: 'ETH' }), ...WRONG],
  ]
  return rules
}

function spotRules(sdk: Sdk, exchange: ConformedExchange) {
  const history = (request: Parameters) => sdk.getSpotHistoricOrders(request)
  const transfer = {
    coin: 'USDT',
    transferType: 'internal_transfer',
    address: '1000002',
    size: '5',
  }
  const withdraw = (change: Parameters) => sdk.spotWithdraw({ ...transfer, ...change })
  const onChain = {
    transferType: 'on_chain',
    address: addressOf(exchange),
    chain: 'TRC20',
    size: '20',
  }
  const rules: Broken[] = [
    ['spot history, limit 101', () => history({ limit: '101' }), ...RANGE],
    ['spot history, tpslType plan', () => history({ tpslType: 'plan' }), ...WRONG],
    ['spot history, idLessThan abc', () => history({ idLessThan: 'abc' }), ...WRONG],
    [
      'spot history, receiveWindow over 60 s',
      () => history({ requestTime: String(exchange.clock.now()), receiveWindow: '60001' }),
      '40079',
    ],
    [
      'spot history outside its receiveWindow',
      () => history({ requestTime: String(exchange.clock.now() - 9000), receiveWindow: '5000' }),
      '40078',
    ],
    ['spot order without ids', () => sdk.getSpotOrder({}), ...MISSING, '40924'],
    ['withdrawal without coin', () => withdraw({ coin: undefined }), ...MISSING],
    ['withdrawal of an unknown coin', () => withdraw({ coin: 'NOSUCH' }), '13002', ...WRONG],
    ['withdrawal, transferType chain', () => withdraw({ transferType: 'chain' }), ...WRONG],
    ['withdrawal without address', () => withdraw({ address: undefined }), ...MISSING],
    ['withdrawal without size', () => withdraw({ size: undefined }), ...MISSING],
    [
      'withdrawal on chain without chain',
      () => withdraw({ ...onChain, chain: undefined }),
      ...MISSING,
    ],
    [
      'withdrawal on a chain of another coin',
      () => withdraw({ ...onChain, chain: 'BTC' }),
      ...WRONG,
      '43126',
      '13002',
      '43125',
    ],
    [
      'withdrawal to an unlisted address',
      () => withdraw({ ...onChain, address: 'TNobodyKnowsThisAddress' }),
      '11000',
      ...WRONG,
    ],
    [
      'withdrawal of too many decimals',
      () => withdraw({ ...onChain, size: '20.123456789' }),
      '40808',
      ...WRONG,
    ],
    ['withdrawal below the least', () => withdraw({ ...onChain, size: '0.5' }), '43114', '43112'],
    ['withdrawal beyond the balance', () => withdraw({ ...onChain, size: '99999999' }), '43012'],
    [
      'transfer to a mobile without areaCode',
      () => withdraw({ innerToType: 'mobile', address: '00001000002' }),
      ...MISSING,
    ],
    ['transfer, innerToType name', () => withdraw({ innerToType: 'name' }), ...WRONG],
    ['transfer to oneself', () => withdraw({ address: exchange.account('oneWay').uid }), '43121'],
  ]
  return rules
}

function addressOf(exchange: ConformedExchange): string {
  const { uid } = exchange.account('oneWay')
  const entry = exchange.simulator.exchange
    .contact(uid)
    .withdrawalAddresses.find(({ chain }) => chain === 'TRC20')
  return entry?.address ?? ''
}

function marginRules(sdk: Sdk, exchange: ConformedExchange) {
  const since = () => String(exchange.clock.now() - DAY_MS)
  const old = () => ({
    startTime: String(exchange.clock.now() - 91 * DAY_MS),
    endTime: String(exchange.clock.now()),
  })
  const cancel = (request: Parameters) =>
    sdk.postPrivate('/api/v2/margin/isolated/batch-cancel-order', request)
  const rules: Broken[] = [
    [
      'crossed open orders without startTime',
      () => sdk.getMarginOpenOrders('crossed', { symbol: 'BTCUSDT' }),
      ...MISSING,
    ],
    ['batch cancel without symbol', () => cancel({ orderIdList: [{ orderId: '1' }] }), ...MISSING],
    [
      'batch cancel of an order without ids',
      () => cancel({ symbol: 'BTCUSDT', orderIdList: [{}] }),
      ALONE,
    ],
  ]
  for (const mode of ['isolated', 'crossed'] as const) {
    const open = (request: Parameters) => sdk.getMarginOpenOrders(mode, request)
    const gone = (request: Parameters) => sdk.getMarginLiquidationOrders(mode, request)
    rules.push(
      [`${mode} open orders without symbol`, () => open({ startTime: since() }), ...MISSING],
      [
        `${mode} open orders, unknown symbol`,
        () => open({ symbol: 'NOSUCHUSDT', startTime: since() }),
        '40034',
        '40309',
        '40102',
      ],
      [`${mode} liquidations, type order`, () => gone({ type: 'order' }), ...WRONG],
      [`${mode} liquidations, limit 501`, () => gone({ limit: '501' }), ...RANGE],
      [`${mode} liquidations over 91 days`, () => gone(old()), ...SPAN],
      [
        `${mode} liquidations, symbol with swap`,
        () => gone({ type: 'swap', symbol: 'BTCUSDT' }),
        ...WRONG,
      ],
      [
        `${mode} liquidations, fromCoin with orders`,
        () => gone({ type: 'place_order', fromCoin: 'BTC' }),
        ...WRONG,
      ],
      [`${mode} liquidations, toCoin with orders`, () => gone({ toCoin: 'BTC' }), ...WRONG],
    )
  }
  rules.push([
    'isolated open orders, limit 501',
    () => sdk.getMarginOpenOrders('isolated', { symbol: 'BTCUSDT', limit: '501' }),
    ...RANGE,
  ])
  return rules
}

function accountRules(sdk: Sdk, trader: Sdk, exchange: ConformedExchange) {
  const good = {
    symbol: 'ETHUSDT',
    productType: 'USDT-FUTURES',
    settingType: 'ADD',
    stopLossRatio: '5',
  }
  const set = (...settingList: readonly Parameters[]) =>
    trader.updateFuturesTraderSymbolSettings({ settingList })
  const change = (changed: Parameters) => set({ ...good, ...changed })
  const convert = (request: Parameters) => sdk.getConvertBGBHistory(request)
  const create = (...subAccountList: readonly string[]) =>
    sdk.createVirtualSubaccount({ subAccountList })
  const now = () => exchange.clock.now()
  const rules: Broken[] = [
    ['copy summary of no trader', () => sdk.getFuturesTraderOrder(), '31001', '40014'],
    ['copy settings of nothing', () => set(), ...MISSING],
    [
      'copy settings, 51 items',
      () => set(...Array.from({ length: 51 }, () => good)),
      '40306',
      ...RANGE,
      ...WRONG,
    ],
    ['copy settings without symbol', () => change({ symbol: undefined }), ...MISSING],
    [
      'copy settings of an unknown symbol',
      () => change({ symbol: 'NOSUCHUSDT' }),
      '31019',
      '40034',
    ],
    [
      'copy settings of a demo productType',
      () => change({ productType: 'SUSDT-FUTURES' }),
      ...WRONG,
    ],
    ['copy settings, settingType SET', () => change({ settingType: 'SET' }), ...WRONG],
    ['copy settings, ratio 401', () => change({ stopSurplusRatio: '401' }), ...RANGE],
    ['copy settings, ratio 1.5', () => change({ stopSurplusRatio: '1.5' }), ...RANGE],
    [
      'copy settings, UPDATE without ratios',
      () => change({ settingType: 'UPDATE', stopLossRatio: undefined }),
      ...MISSING,
    ],
    ['conversions, limit 101', () => convert({ limit: '101' }), ...RANGE],
    [
      'conversions over 91 days',
      () => convert({ startTime: String(now() - 91 * DAY_MS), endTime: String(now()) }),
      ...SPAN,
    ],
    ['sub-accounts, no alias', () => create(), ...MISSING],
    ['sub-account, alias of 7 letters', () => create('Abcdefg'), ALONE],
    ['sub-account, alias with a digit', () => create('Abcdefg1'), ALONE],
  ]
  return rules
}
