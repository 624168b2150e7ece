/*
 * The two clients, unmodified but for the address that they call. What is used of them is written down here:
 * their own types are wider, and not there at all until the script has installed them.
 */

/** Whose name a client signs with. */
export interface Credentials {
  readonly key: string
  readonly secret: string
  readonly passphrase: string
}

/** A successful answer, as the SDK hands it on: with its envelope. */
export interface Envelope {
  readonly code: string
  readonly requestTime: unknown
  readonly data: unknown
}

type Parameters = Readonly<Record<string, unknown>>
type Ask = (parameters?: Parameters) => Promise<Envelope>
type AskMargin = (mode: 'isolated' | 'crossed', parameters: Parameters) => Promise<Envelope>

/** bitget-api (tiagosiebler): a method an endpoint, answers as they come, other codes than 00000 thrown. */
export interface Sdk {
  readonly getServerTime: Ask
  readonly getFuturesContractConfig: Ask
  readonly getFuturesAllTickers: Ask
  readonly getFuturesLongShortRatio: Ask
  readonly getSpotSymbolInfo: Ask
  readonly futuresBatchSubmitOrders: Ask
  readonly futuresCancelAllOrders: Ask
  readonly futuresModifyPlanOrder: Ask
  readonly getFuturesPlanOrders: Ask
  readonly getFuturesFills: Ask
  readonly getFuturesOpenOrders: Ask
  readonly getFuturesPosition: Ask
  readonly getFuturesAccountAsset: Ask
  readonly getSpotHistoricOrders: Ask
  readonly getSpotOrder: Ask
  readonly spotSubmitOrder: Ask
  readonly spotWithdraw: Ask
  readonly getMarginOpenOrders: AskMargin
  readonly getMarginLiquidationOrders: AskMargin
  readonly getFuturesTraderOrder: Ask
  readonly updateFuturesTraderSymbolSettings: Ask
  readonly getConvertBGBHistory: Ask
  readonly createVirtualSubaccount: Ask
  readonly postPrivate: (path: string, parameters: Parameters) => Promise<Envelope>
  readonly getPrivate: (path: string, parameters?: Parameters) => Promise<Envelope>
}

export interface CcxtMarket {
  readonly id: string
  readonly symbol: string
  readonly type: string
  readonly active: boolean | undefined
  readonly margin: boolean
  readonly settle: string | undefined
  readonly precision: { readonly price: number; readonly amount: number }
  readonly info: Parameters
}

export interface CcxtOrder {
  readonly id: string
  readonly clientOrderId: string | undefined
  readonly symbol: string
  readonly status: string | undefined
  readonly side: string | undefined
  readonly price: number | undefined
  readonly amount: number | undefined
  readonly triggerPrice: number | undefined
  readonly info: Parameters
}

export interface CcxtTrade {
  readonly id: string
  readonly order: string
  readonly side: string
  readonly amount: number
  readonly price: number
  readonly takerOrMaker: string | undefined
}

export interface CcxtOrderRequest {
  readonly symbol: string
  readonly type: 'limit' | 'market'
  readonly side: 'buy' | 'sell'
  readonly amount: number
  readonly price?: number
  readonly params?: Parameters
}

type CreateOrder = (
  ...order: [
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: number | undefined,
    params?: Parameters,
  ]
) => Promise<CcxtOrder>

/** ccxt's bitget driver: the unified interface. */
export interface Ccxt {
  readonly urls: { readonly api: Record<string, string> }
  readonly options: Record<string, unknown>
  readonly currencies: Readonly<Record<string, unknown>>
  loadMarkets(): Promise<Readonly<Record<string, CcxtMarket>>>
  fetchTime(): Promise<number>
  fetchTickers(
    symbols?: readonly string[],
    params?: Parameters,
  ): Promise<Readonly<Record<string, unknown>>>
  createOrders(orders: readonly CcxtOrderRequest[]): Promise<readonly CcxtOrder[]>
  readonly createOrder: CreateOrder
  editOrder(
    id: string,
    ...changes: [
      symbol: string,
      type: string,
      side: string,
      amount?: number | undefined,
      price?: number | undefined,
      params?: Parameters,
    ]
  ): Promise<CcxtOrder>
  cancelOrder(id: string, symbol: string, params?: Parameters): Promise<CcxtOrder>
  cancelOrders(
    ids: readonly string[],
    symbol: string,
    params?: Parameters,
  ): Promise<readonly CcxtOrder[]>
  cancelAllOrders(symbol: string, params?: Parameters): Promise<readonly CcxtOrder[]>
  fetchOrder(id: string, symbol: string, params?: Parameters): Promise<CcxtOrder>
  fetchOHLCV(...query: [string, string, undefined, number]): Promise<readonly (readonly number[])[]>
  fetchOpenOrders(...query: Query): Promise<readonly CcxtOrder[]>
  fetchCanceledAndClosedOrders(...query: Query): Promise<readonly CcxtOrder[]>
  fetchMyTrades(...query: Query): Promise<readonly CcxtTrade[]>
  fetchPosition(symbol: string): Promise<unknown>
  fetchPositions(symbols: readonly string[]): Promise<readonly unknown[]>
  fetchBalance(params?: Parameters): Promise<unknown>
  setLeverage(leverage: number, symbol: string): Promise<unknown>
  setPositionMode(hedged: boolean, symbol: string): Promise<unknown>
  withdraw(
    ...order: [code: string, amount: number, address: string, tag: undefined, params: Parameters]
  ): Promise<{
    readonly id: string
  }>
  privateConvertGetV2ConvertBgbConvertRecords(params: Parameters): Promise<Envelope>
}

type Query = [
  symbol?: string,
  since?: number | undefined,
  limit?: number | undefined,
  params?: Parameters,
]

/** ccxt with the address of its every family of endpoints replaced. Its own throttle is off. */
export async function createCcxt(baseUrl: string, credentials?: Credentials): Promise<Ccxt> {
  const { default: ccxt } = (await import('ccxt')) as unknown as {
    default: { bitget: new (options: Parameters) => Ccxt }
  }
  const { key, secret, passphrase } = credentials ?? {}
  const signed = credentials === undefined ? {} : { apiKey: key, secret, password: passphrase }
  const client = new ccxt.bitget({ enableRateLimit: false, ...signed })
  for (const family of Object.keys(client.urls.api)) client.urls.api[family] = baseUrl
  return client
}

/** The SDK takes the address as an option. */
export async function createSdk(baseUrl: string, credentials?: Credentials): Promise<Sdk> {
  const { RestClientV2 } = (await import('bitget-api')) as unknown as {
    RestClientV2: new (options: Parameters) => Sdk
  }
  const { key, secret, passphrase } = credentials ?? {}
  const signed =
    credentials === undefined ? {} : { apiKey: key, apiSecret: secret, apiPass: passphrase }
  return new RestClientV2({ baseUrl, ...signed })
}
