import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { type ServicePorts, type DisplayedPrice } from '../account-service.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { isOpen, parseSpotOrder, type SpotOrder } from './spot-order.ts'
import { type SpotSettings } from './spot-settings.ts'
import { readSpotSymbol, type SpotSymbol } from './spot-symbol.ts'

/** Everything the spot service knows of orders. One writer; each function of this module takes it first. */
export interface SpotState {
  readonly ports: ServicePorts
  readonly settings: SpotSettings
  /** By symbol, in the order of the list. */
  readonly markets: ReadonlyMap<string, SpotMarket>
  readonly accounts: ReadonlyMap<string, SpotAccount>
  readonly clock: { now: number }
}

export interface SpotAccount {
  readonly uid: string
  /** By orderId, oldest first. At most `ordersMax`, and the open ones. */
  readonly orders: Map<string, SpotOrder>
  /** By the clientOid that the client set; of the orders above. */
  readonly byClientOid: Map<string, SpotOrder>
}

export interface SpotMarket {
  readonly symbol: SpotSymbol
  /** Open orders of all accounts, oldest first. At most `orderQuantity` an account. */
  readonly open: Set<SpotOrder>
  level: SpotLevel
}

/** The displayed price that orders took from, and what they took of it, in quote coin. */
export interface SpotLevel {
  readonly bid: string
  readonly ask: string
  readonly last: string
  readonly takenAsk: Decimal
  readonly takenBid: Decimal
}

const NO_LEVEL: SpotLevel = { bid: '', ask: '', last: '', takenAsk: ZERO, takenBid: ZERO }
const ORDER_ROWS = 'spot/order/'
const LEVEL_ROWS = 'spot/level/'

/** The state as it was stored; empty at the very first start. */
export function openSpotState(ports: ServicePorts, settings: SpotSettings): SpotState {
  const markets = new Map<string, SpotMarket>()
  for (const row of settings.symbols) {
    markets.set(row.symbol, { symbol: readSpotSymbol(row), open: new Set(), level: NO_LEVEL })
  }
  const accounts = new Map<string, SpotAccount>()
  for (const { uid } of ports.accounts) {
    accounts.set(uid, { uid, orders: new Map(), byClientOid: new Map() })
  }
  const state: SpotState = { ports, settings, markets, accounts, clock: { now: ports.startAt } }
  for (const { json } of ports.store.rows(ORDER_ROWS)) keepOrder(state, parseSpotOrder(json))
  for (const { id, json } of ports.store.rows(LEVEL_ROWS)) {
    const market = markets.get(id.slice(LEVEL_ROWS.length))
    if (market !== undefined) market.level = parseLevel(json)
  }
  return state
}

/** @throws Failure SIMULATOR_ACCOUNT_UNKNOWN */
export function spotAccountOf(state: SpotState, uid: string): SpotAccount {
  const account = state.accounts.get(uid)
  if (account !== undefined) return account
  throw new Failure({
    code: 'SIMULATOR_ACCOUNT_UNKNOWN',
    sentence: 'the spot service of the simulated exchange has no such account',
    facts: { uid, accounts: [...state.accounts.keys()].join(', ') },
    hint: 'name the account in the simulator configuration',
  })
}

/** @throws Failure SIMULATOR_SYMBOL_UNKNOWN: only for symbols that were checked before. */
export function spotMarketOf(state: SpotState, symbol: string): SpotMarket {
  const market = state.markets.get(symbol)
  if (market !== undefined) return market
  throw new Failure({
    code: 'SIMULATOR_SYMBOL_UNKNOWN',
    sentence: 'the spot service of the simulated exchange lists no such pair',
    facts: { symbol, symbols: [...state.markets.keys()].join(', ') },
    hint: 'take a symbol of src/simulator/spot/spot-symbol.ts',
  })
}

export function spotBalance(uid: string, coin: string): CoinRef {
  return { uid, balance: 'spot', coin }
}

/** The coin that an order pays with. */
export function paidCoin(market: SpotMarket, { side }: Pick<SpotOrder, 'side'>): string {
  return side === 'buy' ? market.symbol.row.quoteCoin : market.symbol.row.baseCoin
}

/** The coin obtained from the trade: fees are in it. */
export function obtainedCoin(market: SpotMarket, { side }: Pick<SpotOrder, 'side'>): string {
  return side === 'buy' ? market.symbol.row.baseCoin : market.symbol.row.quoteCoin
}

/** Takes an order into the service's maps; an order of an account that is gone stays in the store only. */
export function keepOrder(state: SpotState, order: SpotOrder): void {
  const account = state.accounts.get(order.uid)
  if (account === undefined) return
  account.orders.set(order.orderId, order)
  if (order.isClientOidOwn) account.byClientOid.set(order.clientOid, order)
  if (isOpen(order)) state.markets.get(order.symbol)?.open.add(order)
}

export function forgetOrder(state: SpotState, account: SpotAccount, order: SpotOrder): void {
  account.orders.delete(order.orderId)
  if (account.byClientOid.get(order.clientOid) === order) account.byClientOid.delete(order.clientOid)
  state.ports.store.drop(ORDER_ROWS + order.orderId)
}

export function putOrder(state: SpotState, order: SpotOrder): void {
  state.ports.store.put(ORDER_ROWS + order.orderId, JSON.stringify(order))
}

/** Looks at the displayed price; what was taken counts until it changes. @returns whether it changed. */
export function observePrice(state: SpotState, market: SpotMarket): boolean {
  const price = state.ports.prices(market.symbol.row.symbol)
  const { level } = market
  if (price === undefined || isSamePrice(price, level)) return false
  market.level = { bid: price.bid, ask: price.ask, last: price.last, takenAsk: ZERO, takenBid: ZERO }
  if (level.takenAsk.gt(ZERO) || level.takenBid.gt(ZERO)) putLevel(state, market)
  return true
}

export function putLevel(state: SpotState, market: SpotMarket): void {
  state.ports.store.put(LEVEL_ROWS + market.symbol.row.symbol, JSON.stringify(market.level))
}

function isSamePrice(price: DisplayedPrice, level: SpotLevel): boolean {
  return price.bid === level.bid && price.ask === level.ask && price.last === level.last
}

function parseLevel(json: string): SpotLevel {
  const row = JSON.parse(json) as Readonly<Record<keyof SpotLevel, string>>
  return { ...row, takenAsk: decimal(row.takenAsk), takenBid: decimal(row.takenBid) }
}
