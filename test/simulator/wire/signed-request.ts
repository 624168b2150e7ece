import { formatPath } from '../../../src/protocol/endpoint-path.ts'
import { signSchemeA, signSchemeB } from '../../../src/protocol/signing.ts'
import { type ExchangeAccountSetup } from '../../../src/simulator/shared/account.ts'
import { servedNames, servedRow, type ServedName } from '../../../src/simulator/wire/served-rows.ts'
import { defaultWireSettings } from '../../../src/simulator/wire/settings.ts'
import { type ReceivedRequest } from '../../../src/simulator/wire/wire-request.ts'

/** 2023-11-14T22:13:20Z: where the virtual clock of these tests starts. */
export const START_AT = 1_700_000_000_000

const PLATFORM_COIN = defaultWireSettings.platformCoin.toLowerCase()

export interface RequestParts {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly query?: string
  readonly body?: unknown
  readonly at?: number
  readonly remoteAddress?: string
}

/** What a correct client sends; `headers` replaces or removes single ones. */
export function signedRequest(
  account: Pick<ExchangeAccountSetup, 'key' | 'secret' | 'passphrase'>,
  {
    method = 'GET',
    path,
    query = '',
    body,
    at = START_AT,
    remoteAddress = '127.0.0.1',
  }: RequestParts,
  headers: Readonly<Record<string, string | undefined>> = {},
): ReceivedRequest {
  const timestamp = String(at)
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const signed = {
    'access-key': account.key,
    'access-sign': signSchemeA(account.secret, { timestamp, method, path, query, body: text }),
    'access-passphrase': account.passphrase,
    'access-timestamp': timestamp,
    'content-type': 'application/json',
    ...headers,
  }
  return { method, path, query, body: text, headers: signed, remoteAddress }
}

export const BATCH_PATH = '/api/v2/mix/order/batch-place-order'
export const CANCEL_ALL_PATH = '/api/v2/mix/order/cancel-all-orders'
export const MODIFY_PLAN_PATH = '/api/v2/mix/order/modify-plan-order'
export const FILLS_PATH = '/api/v2/mix/order/fills'
export const POSITION_PATH = '/api/v2/mix/position/single-position'
export const TICKERS_PATH = '/api/v2/mix/market/tickers'
export const RATIO_PATH = '/api/v2/mix/market/long-short-ratio'

export const BATCH_BODY = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
  orderList: [
    {
      size: '0.01',
      price: '60000',
      side: 'buy',
      orderType: 'limit',
      force: 'gtc',
      clientOid: 'one',
    },
  ],
} as const

/** What a correct client of the signed gateway sends. */
export function gatewayRequest(
  account: Pick<ExchangeAccountSetup, 'gateway'>,
  { path, query = '', body = '', at = START_AT, remoteAddress = '127.0.0.1' }: RequestParts,
  headers: Readonly<Record<string, string | undefined>> = {},
): ReceivedRequest {
  const { key = '', secret = '' } = account.gateway ?? {}
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const timestamp = String(at)
  const parameters = Object.fromEntries(new URLSearchParams(query))
  const signed = {
    'x-api-key': key,
    'x-api-timestamp': timestamp,
    'x-api-signature': signSchemeB(secret, {
      apiPath: path,
      query: parameters,
      body: text,
      apiKey: key,
      timestamp,
    }),
    'content-type': 'application/json',
    ...headers,
  }
  return { method: 'POST', path, query, body: text, headers: signed, remoteAddress }
}

/** Signed by the scheme of the address. */
export function requestFor(account: ExchangeAccountSetup, parts: RequestParts): ReceivedRequest {
  return parts.path === GATEWAY_PATH
    ? gatewayRequest(account, parts)
    : signedRequest(account, parts)
}

export const GATEWAY_PATH = '/swap/api/test'

const FUTURES = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const QUERY = 'productType=USDT-FUTURES&symbol=BTCUSDT'
const MARGIN_ORDER = {
  symbol: 'BTCUSDT',
  side: 'buy',
  orderType: 'limit',
  price: '60000',
  baseSize: '0.01',
}
const PLAN = {
  planType: 'normal_plan',
  triggerPrice: '61000',
  triggerType: 'fill_price',
  marginMode: 'crossed',
}

/** A good request for each row that is served. */
export const GOOD_REQUEST_OF: Readonly<Record<ServedName, Omit<RequestParts, 'path'>>> = {
  batchPlaceOrder: { body: BATCH_BODY },
  cancelAllOrders: { body: { productType: 'USDT-FUTURES', symbol: 'BTCUSDT' } },
  modifyPlanOrder: { body: { productType: 'USDT-FUTURES', orderId: '1', newSize: '2' } },
  orderFills: { query: QUERY },
  singlePosition: { query: `marginCoin=USDT&${QUERY}` },
  tickers: { query: 'productType=USDT-FUTURES' },
  longShortRatio: { query: 'symbol=BTCUSDT' },
  spotHistoryOrders: { query: 'symbol=BTCUSDT' },
  spotOrderInfo: { query: 'orderId=1' },
  spotSymbols: {},
  spotWithdrawal: {
    body: { coin: 'USDT', transferType: 'on_chain', address: 'a', chain: 'trc20', size: '20' },
  },
  isolatedOpenOrders: { query: 'symbol=BTCUSDT' },
  crossedOpenOrders: { query: `startTime=${START_AT - 1000}&symbol=BTCUSDT` },
  isolatedLiquidationOrders: { query: 'symbol=BTCUSDT' },
  crossedLiquidationOrders: { query: 'type=swap' },
  isolatedBatchCancelOrders: {
    body: { symbol: 'BTCUSDT', orderIdList: [{ orderId: '1', clientId: 'a' }] },
  },
  copyOrderTotalDetail: {},
  copyConfigSettingSymbols: {
    body: { settingList: [{ symbol: 'BTCUSDT', productType: 'USDT-FUTURES', settingType: 'add' }] },
  },
  convertRecords: { query: 'limit=5' },
  createVirtualSubaccounts: { body: { subAccountList: ['testtest'] } },
  gatewayTest: { query: 'a=1&b=2', body: { some: ['thing'] } },
  serverTime: {},
  contracts: { query: 'productType=USDT-FUTURES' },
  candles: { query: `granularity=1m&${QUERY}` },
  historyCandles: { query: `granularity=1H&${QUERY}` },
  historyFundRate: { query: QUERY },
  currentFundRate: { query: QUERY },
  spotCoins: {},
  marginCurrencies: {},
  account: { query: `marginCoin=usdt&${QUERY}` },
  accounts: { query: 'productType=USDT-FUTURES' },
  allPositions: { query: 'productType=USDT-FUTURES' },
  setLeverage: { body: { ...FUTURES, leverage: '7' } },
  setMarginMode: { body: { ...FUTURES, marginMode: 'isolated' } },
  setPositionMode: { body: { productType: 'USDT-FUTURES', posMode: 'one_way_mode' } },
  placeOrder: {
    body: { ...FUTURES, marginMode: 'crossed', size: '0.01', side: 'buy', orderType: 'market' },
  },
  cancelOrder: { body: { ...FUTURES, orderId: '1' } },
  batchCancelOrders: { body: { ...FUTURES, orderIdList: [{ orderId: '1' }] } },
  orderDetail: { query: `orderId=1&${QUERY}` },
  ordersPending: { query: QUERY },
  placePlanOrder: { body: { ...FUTURES, ...PLAN, size: '0.01', side: 'buy', orderType: 'market' } },
  ordersPlanPending: { query: `planType=normal_plan&${QUERY}` },
  modifyTpslOrder: { body: { ...FUTURES, orderId: '1', triggerPrice: '50000', size: '' } },
  cancelPlanOrder: { body: { ...FUTURES, orderIdList: [{ orderId: '1', clientOid: '' }] } },
  spotPlaceOrder: { body: { symbol: 'BTCUSDT', side: 'buy', orderType: 'market', size: '100' } },
  spotCancelOrder: { body: { symbol: 'BTCUSDT', orderId: '1' } },
  symbolTicker: { query: QUERY },
  symbolPrice: { query: QUERY },
  spotTickers: {},
  ordersHistory: { query: QUERY },
  closePositions: { body: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' } },
  spotUnfilledOrders: { query: 'symbol=BTCUSDT' },
  spotAssets: {},
  isolatedCancelOrder: { body: { symbol: 'BTCUSDT', orderId: '1' } },
  crossedCancelOrder: { body: { symbol: 'BTCUSDT', orderId: '1' } },
  isolatedPlaceOrder: { body: { ...MARGIN_ORDER, loanType: 'normal' } },
  crossedPlaceOrder: { body: { ...MARGIN_ORDER, loanType: 'normal' } },
}

/** The same with method and path, in the order of the tables. */
export const GOOD_REQUESTS: readonly (RequestParts & { readonly name: ServedName })[] =
  servedNames.map((name) => {
    const { method, path } = servedRow(name)
    return {
      name,
      method,
      path: formatPath(path, { platform_coin: PLATFORM_COIN }),
      ...GOOD_REQUEST_OF[name],
    }
  })
