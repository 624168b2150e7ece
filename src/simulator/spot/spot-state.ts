import { Failure } from '../../lib/failure.ts'
import { type ServicePorts } from '../account-service.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { PairMarket } from '../pair-market.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { type PlacedCodec } from '../store/stored-rows.ts'
import { isOpen, type SpotOrder } from './spot-order.ts'
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
  /** With the resting orders of all accounts; they and those that wait are at most `orderQuantity` an account. */
  readonly book: PairMarket<SpotOrder>
  /** Orders of all accounts that are not in the market yet, oldest first. */
  readonly waiting: Set<SpotOrder>
}

export const SPOT_ORDERS: PlacedCodec<SpotState, SpotOrder> = {
  table: 'spot_orders',
  id: ({ orderId }) => orderId,
  decimals: [
    ...['price', 'size', 'baseVolume', 'quoteVolume', 'frozen', 'quoteSize'],
    ...['total', 'deducted', 'remainder'],
  ],
  place: keepOrder,
}

/** The state as it was stored; empty at the very first start. */
export function openSpotState(ports: ServicePorts, settings: SpotSettings): SpotState {
  const markets = new Map<string, SpotMarket>()
  for (const row of settings.symbols) {
    const symbol = readSpotSymbol(row)
    const { priceDecimals, baseDecimals: sizeDecimals } = symbol
    const names = { symbol: row.symbol, row: `spot/${row.symbol}` }
    const book = new PairMarket<SpotOrder>(ports, { ...names, priceDecimals, sizeDecimals })
    markets.set(row.symbol, { symbol, book, waiting: new Set() })
  }
  const accounts = new Map<string, SpotAccount>()
  for (const { uid } of ports.accounts) {
    accounts.set(uid, { uid, orders: new Map(), byClientOid: new Map() })
  }
  const state: SpotState = { ports, settings, markets, accounts, clock: { now: ports.startAt } }
  ports.rows.restore(SPOT_ORDERS, state)
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
export function paidCoin(market: SpotMarket, { direction }: Pick<SpotOrder, 'direction'>): string {
  return direction === 'buy' ? market.symbol.row.quoteCoin : market.symbol.row.baseCoin
}

/** The coin obtained from the trade: fees are in it. */
export function obtainedCoin(market: SpotMarket, { direction }: Pick<SpotOrder, 'direction'>): string {
  return direction === 'buy' ? market.symbol.row.baseCoin : market.symbol.row.quoteCoin
}

/** Takes an order into the service's maps; an order of an account that is gone stays in the store only. */
export function keepOrder(state: SpotState, order: SpotOrder): void {
  const account = state.accounts.get(order.uid)
  if (account === undefined) return
  account.orders.set(order.orderId, order)
  if (order.isClientOidOwn) account.byClientOid.set(order.clientOid, order)
  const market = state.markets.get(order.symbol)
  if (market === undefined || !isOpen(order)) return
  if (order.status === 'init') market.waiting.add(order)
  else enterBook(market, order)
}

/** An order that has been let into the market, and rests in it. */
export function enterBook({ book, waiting }: SpotMarket, order: SpotOrder): void {
  waiting.delete(order)
  insertOrder(sideOf(book, order), order)
}

export function forgetOrder(state: SpotState, account: SpotAccount, order: SpotOrder): void {
  account.orders.delete(order.orderId)
  if (account.byClientOid.get(order.clientOid) === order) account.byClientOid.delete(order.clientOid)
  state.ports.rows.drop(SPOT_ORDERS, order)
}
