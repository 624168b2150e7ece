import { signSchemeA } from '../../../src/protocol/signing.ts'
import { type AccountSetup } from '../../../src/simulator/core/account.ts'
import { type WireRequest } from '../../../src/simulator/wire/wire-request.ts'

/** 2023-11-14T22:13:20Z: where the virtual clock of these tests starts. */
export const START_AT = 1_700_000_000_000

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
  account: Pick<AccountSetup, 'key' | 'secret' | 'passphrase'>,
  { method = 'GET', path, query = '', body, at = START_AT, remoteAddress = '127.0.0.1' }: RequestParts,
  headers: Readonly<Record<string, string | undefined>> = {},
): WireRequest {
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
    { size: '0.01', price: '60000', side: 'buy', orderType: 'limit', force: 'gtc', clientOid: 'one' },
  ],
} as const

/** A good request for each endpoint, by its path. */
export const GOOD_REQUESTS: readonly RequestParts[] = [
  { method: 'POST', path: BATCH_PATH, body: BATCH_BODY },
  { method: 'POST', path: CANCEL_ALL_PATH, body: { productType: 'USDT-FUTURES', symbol: 'BTCUSDT' } },
  {
    method: 'POST',
    path: MODIFY_PLAN_PATH,
    body: { productType: 'USDT-FUTURES', orderId: '1', newSize: '2' },
  },
  { path: FILLS_PATH, query: 'productType=USDT-FUTURES&symbol=BTCUSDT' },
  { path: POSITION_PATH, query: 'marginCoin=USDT&productType=USDT-FUTURES&symbol=BTCUSDT' },
  { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' },
  { path: RATIO_PATH, query: 'symbol=BTCUSDT' },
]
