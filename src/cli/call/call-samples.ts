import type { WirePositionMode } from '../../protocol/endpoint.ts'
import type { CallableName } from '../../protocol/endpoints.ts'
import type { PendingOrder } from './call-arguments.ts'

type Options = Readonly<Record<string, string | undefined>>

export interface BrokenSample {
  readonly change: Options
  readonly says: string
  readonly positionMode?: WirePositionMode
  readonly pending?: PendingOrder
}

export interface CallSample {
  readonly options: Options
  readonly broken: readonly BrokenSample[]
}

const futures = { 'product-type': 'USDT-FUTURES' }
const order = 'side=buy,orderType=limit,price=50000,size=0.001,force=gtc'
const batch = { symbol: 'BTCUSDT', ...futures, 'margin-coin': 'USDT', 'margin-mode': 'crossed' }
const hedge = { positionMode: 'hedge_mode' } as const
const trailing = { pending: 'trailing' } as const
const market = { pending: 'market' } as const
const limit = { pending: 'limit' } as const
const longSpan = { 'start-time': '1700000000000', 'end-time': '1710000000000' }
const orders = (count: number) => `[${Array.from({ length: count }, () => plainOrder).join(',')}]`
const plainOrder = '{"side":"buy","orderType":"market","size":"1"}'
const setting = '{"symbol":"BTCUSDT","productType":"USDT-FUTURES","settingType":"DELETE"}'
const copy = (more: string) => `symbol=BTCUSDT,productType=USDT-FUTURES,settingType=${more}`
const chain = 'transferType is on_chain'
/** The first account of `intentd simulate --print-accounts` lists this address. */
const LISTED_ADDRESS = '0x128c629d264d5962ed31dbf6d1209eb8a9f902da'

const receiveWindow: readonly BrokenSample[] = [
  { change: { 'receive-window': '60001' }, says: 'must not exceed 60 s' },
  { change: { 'request-time': 'now' }, says: 'Unix milliseconds' },
]
const symbolRules: readonly BrokenSample[] = [
  { change: { symbol: undefined }, says: 'required: Trading pair' },
  { change: { symbol: 'BTC/USDT' }, says: 'a symbol in capitals' },
]
const liquidation: CallSample = {
  options: { type: 'place_order', symbol: 'BTCUSDT', limit: '10' },
  broken: [
    { change: { type: 'swaps' }, says: 'did you mean swap?' },
    { change: { type: 'swap' }, says: 'symbol is for type=place_order only' },
    { change: { 'from-coin': 'BTC' }, says: 'fromCoin is for type=swap only' },
    { change: { 'to-coin': 'BTC' }, says: 'toCoin is for type=swap only' },
    { change: longSpan, says: 'at most 90 days apart' },
    { change: { limit: '501' }, says: 'limit is 1 to 500' },
    { change: { 'id-less-than': 'x' }, says: 'an identifier of digits' },
  ],
}

const recentCandles: CallSample = {
  options: { ...futures, symbol: 'BTCUSDT', granularity: '5m', limit: '20' },
  broken: [
    ...symbolRules,
    { change: { granularity: '7m' }, says: 'takes 1m, 3m, 5m' },
    { change: longSpan, says: 'at most 90 days apart' },
    { change: { limit: '1001' }, says: 'limit is 1 to 1000' },
  ],
}

const SAMPLES: Readonly<Record<CallableName, CallSample>> = {
  batchPlaceOrder: {
    options: { ...batch, orders: order },
    broken: [
      ...symbolRules,
      { change: { 'product-type': 'USD-FUTURES' }, says: 'did you mean USDT-FUTURES?' },
      { change: { 'margin-coin': 'usdt' }, says: 'the margin coin in capitals' },
      { change: { 'margin-mode': 'cross' }, says: 'takes isolated, crossed' },
      { change: { orders: undefined }, says: 'required: Orders, at most 50' },
      { change: { orders: orders(51) }, says: 'orderList takes at most 50 items' },
      { change: { orders: '[]' }, says: 'at least 1 item' },
      {
        change: { orders: 'side=buy,orderType=limit,size=1' },
        says: 'price is required when orderType is limit',
      },
      { change: { orders: 'side=buy,orderType=market,size=0' }, says: 'a positive decimal' },
      { change: { orders: 'side=up,orderType=market,size=1' }, says: 'takes buy, sell' },
      { change: { orders: `${order},force=gtd` }, says: 'takes gtc, ioc, fok, post_only' },
      { change: { orders: `${order},stpMode=maker` }, says: 'takes none, cancel_taker' },
      { change: { orders: `${order},reduceOnly=true` }, says: 'takes YES, NO' },
      { change: { orders: `${order},presetStopLossPrice=-1` }, says: 'a decimal' },
      { change: { orders: `${order},clientOid=a:b` }, says: '1 to 32 letters' },
      { change: { orders: `[${plainOrder.replace('"1"', '1')}]` }, says: 'nearly every value' },
      {
        change: { orders: `${order},tradeSide=open` },
        says: 'tradeSide must be omitted in one-way',
      },
      { change: {}, says: 'tradeSide is required in hedge position mode', ...hedge },
      {
        change: { orders: `${order},tradeSide=open,reduceOnly=NO` },
        says: 'reduceOnly is for one-way position mode only',
        ...hedge,
      },
      {
        change: {
          orders: `[${[1, 2].map(() => plainOrder.replace('}', ',"clientOid":"a"}')).join(',')}]`,
        },
        says: 'clientOid must be unique',
      },
    ],
  },
  cancelAllOrders: {
    options: { ...futures, symbol: 'BTCUSDT' },
    broken: [
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      {
        change: { 'product-type': 'COIN-FUTURES' },
        says: 'marginCoin is required when productType is COIN-FUTURES',
      },
      ...receiveWindow,
    ],
  },
  modifyPlanOrder: {
    options: {
      'order-id': '1',
      ...futures,
      'new-trigger-price': '50000',
      'new-trigger-type': 'mark_price',
    },
    broken: [
      { change: { 'order-id': undefined }, says: 'one of orderId and clientOid is required' },
      {
        change: { 'new-trigger-price': undefined },
        says: 'newTriggerType requires newTriggerPrice',
      },
      { change: { 'new-trigger-type': 'last' }, says: 'takes fill_price, mark_price' },
      { change: { 'new-callback-ratio': '10.1' }, says: 'must not be greater than 10' },
      { change: { 'new-size': '-1' }, says: 'a positive decimal' },
      { change: {}, says: 'newCallbackRatio is required for a trailing order', ...trailing },
      {
        change: { 'new-price': '1' },
        says: 'newPrice must be empty for a trailing order',
        ...trailing,
      },
      {
        change: { 'new-stop-surplus-execute-price': '1' },
        says: 'newStopSurplusExecutePrice must be empty for a trailing order',
        ...trailing,
      },
      {
        change: { 'new-callback-ratio': '1' },
        says: 'must be empty for a trigger order',
        ...limit,
      },
      {
        change: { 'new-price': '1' },
        says: 'newPrice must be empty for a market order',
        ...market,
      },
      {
        change: { 'new-stop-surplus-trigger-price': '1' },
        says: 'newStopSurplusTriggerType is required when',
        ...limit,
      },
      {
        change: { 'new-stop-loss-trigger-price': '1' },
        says: 'newStopLossTriggerType is required when',
        ...limit,
      },
    ],
  },
  orderFills: {
    options: { ...futures, symbol: 'BTCUSDT', limit: '20' },
    broken: [
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      { change: { limit: '101' }, says: 'limit is 1 to 100' },
      { change: longSpan, says: 'at most three months apart' },
    ],
  },
  singlePosition: {
    options: { ...futures, symbol: 'BTCUSDT', 'margin-coin': 'USDT' },
    broken: [
      ...symbolRules,
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      { change: { 'margin-coin': 'usdt' }, says: 'the margin coin in capitals' },
    ],
  },
  tickers: {
    options: futures,
    broken: [
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      { change: { 'product-type': 'USDT-FUTURE' }, says: 'did you mean USDT-FUTURES?' },
    ],
  },
  longShortRatio: {
    options: { symbol: 'BTCUSDT', period: '24h' },
    broken: [
      ...symbolRules,
      { change: { period: '7d' }, says: 'takes 24h, 30d' },
      { change: { coin: 'B-T' }, says: 'the name of a coin' },
    ],
  },
  spotHistoryOrders: {
    options: { symbol: 'BTCUSDT', limit: '20' },
    broken: [
      { change: { limit: '101' }, says: 'limit is 1 to 100' },
      { change: { 'tpsl-type': 'all' }, says: 'takes normal, tpsl' },
      { change: { 'start-time': '1500000000000' }, says: 'must lie within the last 90 days' },
      ...receiveWindow,
    ],
  },
  spotOrderInfo: {
    options: { 'order-id': '1' },
    broken: [
      { change: { 'order-id': undefined }, says: 'one of orderId and clientOid is required' },
      ...receiveWindow,
    ],
  },
  spotSymbols: {
    options: { symbol: 'BTCUSDT' },
    broken: [{ change: { symbol: 'BTC/USDT' }, says: 'a symbol in capitals' }],
  },
  spotWithdrawal: {
    options: {
      coin: 'USDT',
      'transfer-type': 'on_chain',
      chain: 'erc20',
      size: '12.5',
      address: LISTED_ADDRESS,
    },
    broken: [
      { change: { coin: undefined }, says: 'required: Coin name' },
      { change: { 'transfer-type': 'onchain' }, says: 'did you mean on_chain?' },
      { change: { chain: undefined }, says: `chain must be sent when ${chain}` },
      { change: { size: '0' }, says: 'a positive decimal' },
      { change: { address: '' }, says: 'address must not be empty' },
      { change: { 'transfer-type': 'internal_transfer' }, says: 'address must be a UID of digits' },
      {
        change: {
          'transfer-type': 'internal_transfer',
          'inner-to-type': 'email',
          address: 'nobody',
        },
        says: 'address must be an e-mail',
      },
      {
        change: {
          'transfer-type': 'internal_transfer',
          'inner-to-type': 'mobile',
          address: '123456789',
        },
        says: 'areaCode is required when innerToType is mobile',
      },
    ],
  },
  isolatedOpenOrders: {
    options: { symbol: 'BTCUSDT', limit: '20' },
    broken: [...symbolRules, { change: { limit: '501' }, says: 'limit is 1 to 500' }],
  },
  crossedOpenOrders: {
    options: { symbol: 'BTCUSDT', 'start-time': '1700000000000' },
    broken: [
      ...symbolRules,
      { change: { 'start-time': undefined }, says: 'required: From, Unix ms' },
      { change: { limit: '0' }, says: 'a positive number' },
    ],
  },
  isolatedLiquidationOrders: liquidation,
  crossedLiquidationOrders: liquidation,
  isolatedBatchCancelOrders: {
    options: { symbol: 'BTCUSDT', 'order-ids': 'orderId=1' },
    broken: [
      ...symbolRules,
      { change: { 'order-ids': '[{}]' }, says: 'one of orderId and clientOid is required' },
      {
        change: { 'order-ids': 'clientOid=a,clientId=b' },
        says: 'two names of one field and must agree',
      },
    ],
  },
  copyOrderTotalDetail: { options: {}, broken: [] },
  copyConfigSettingSymbols: {
    options: { settings: copy('ADD,stopSurplusRatio=50,stopLossRatio=20') },
    broken: [
      { change: { settings: undefined }, says: 'required: Settings, at most 50' },
      {
        change: { settings: `[${Array.from({ length: 51 }, () => setting).join(',')}]` },
        says: 'settingList takes at most 50 items',
      },
      { change: { settings: copy('UPDATE') }, says: 'UPDATE needs at least one of' },
      { change: { settings: copy('ADD,stopLossRatio=401') }, says: 'an integer from 1 to 400' },
      { change: { settings: copy('ADD,stopLossRatio=0') }, says: '0 cancels an earlier setting' },
      { change: { settings: copy('REMOVE') }, says: 'takes ADD, DELETE, UPDATE' },
    ],
  },
  convertRecords: {
    options: { limit: '20' },
    broken: [
      { change: { limit: '101' }, says: 'limit is 1 to 100' },
      { change: longSpan, says: 'at most 90 days apart' },
    ],
  },
  createVirtualSubaccounts: {
    options: { 'sub-accounts': 'alphabet,notebook' },
    broken: [
      { change: { 'sub-accounts': undefined }, says: 'required: Aliases' },
      { change: { 'sub-accounts': 'alpha1' }, says: 'an alias is 8 English letters' },
      { change: { 'sub-accounts': 'alphabet,alphabet' }, says: 'an alias is unique' },
    ],
  },
  gatewayTest: {
    options: { query: 'first=1,second=2', body: '{"ping":"pong"}' },
    broken: [
      { change: { query: 'first=1' }, says: 'two query parameters' },
      { change: { body: undefined }, says: 'required: A JSON body' },
    ],
  },
  contracts: {
    options: { ...futures, symbol: 'BTCUSDT' },
    broken: [
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      { change: { symbol: 'BTC/USDT' }, says: 'a symbol in capitals' },
    ],
  },
  candles: recentCandles,
  historyCandles: {
    options: recentCandles.options,
    broken: [
      ...recentCandles.broken.slice(0, -1),
      { change: { limit: '201' }, says: 'limit is 1 to 200' },
    ],
  },
  historyFundRate: {
    options: { ...futures, symbol: 'BTCUSDT', 'page-size': '20' },
    broken: [
      ...symbolRules,
      { change: { 'page-size': '101' }, says: 'pageSize is 1 to 100' },
      { change: { 'page-no': '0' }, says: 'the number of a page' },
    ],
  },
  currentFundRate: {
    options: { ...futures, symbol: 'BTCUSDT' },
    broken: [
      ...symbolRules,
      { change: { 'product-type': undefined }, says: 'required: Product type' },
    ],
  },
  ordersPlanPending: {
    options: { ...futures, 'plan-type': 'profit_loss' },
    broken: [
      { change: { 'plan-type': undefined }, says: 'required: normal_plan, track_plan, or' },
      { change: { 'product-type': undefined }, says: 'required: Product type' },
      { change: { limit: '0' }, says: 'limit is a whole number above zero' },
    ],
  },
  modifyTpslOrder: {
    options: {
      ...futures,
      symbol: 'BTCUSDT',
      'margin-coin': 'USDT',
      'order-id': '1',
      'trigger-price': '50000',
      size: '',
    },
    broken: [
      { change: { size: '-1' }, says: 'a positive decimal' },
      { change: { 'trigger-price': '0' }, says: 'a positive decimal' },
      { change: { 'margin-coin': undefined }, says: 'required: Margin coin' },
      { change: { 'trigger-type': 'last' }, says: 'takes fill_price, mark_price' },
    ],
  },
}

export function sampleOf(endpoint: CallableName): CallSample {
  return SAMPLES[endpoint]
}

export function toWords(endpoint: CallableName, change: Options = {}): readonly string[] {
  const options = Object.entries({ ...SAMPLES[endpoint].options, ...change })
  return [
    endpoint,
    ...options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
  ]
}

export function exampleOf(endpoint: CallableName): string {
  const options = Object.entries(SAMPLES[endpoint].options).map(([name, value = '']) =>
    /^[\w.,=-]+$/.test(value) ? `--${name} ${value}` : `--${name} '${value}'`,
  )
  return ['intentd call', endpoint, ...options].join(' ')
}
