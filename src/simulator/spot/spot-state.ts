import { Failure } from '../../lib/failure.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { countFirst } from '../shared/history-page.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { PairMarket } from '../services/pair-market.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { type PlacedCodec } from '../store/stored-rows.ts'
import { isIdBefore } from '../shared/order-sequence.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import { type SpotOrder } from './spot-order.ts'
import { type SpotSettings } from './spot-settings.ts'
import { readSpotSymbol, type SpotSymbol } from './spot-symbol.ts'

/** Everything the spot service knows of orders. One writer; each function of this module takes it first. */
export interface SpotState {
  readonly ports: ServicePorts
  readonly settings: SpotSettings
  /** By symbol, in the order of the list. */
  readonly markets: ReadonlyMap<string, SpotMarket>
  readonly accounts: ReadonlyMap<string, SpotAccount>
}

export interface SpotAccount {
  readonly uid: string
  /** Oldest first, which is by orderId. At most `ordersMax`, and the open ones. */
  readonly orders: SpotOrder[]
  /** By the clientOid that the client set; of the orders above. */
  readonly byClientOid: Map<string, SpotOrder>
  /** Oldest first; at most `withdrawalsMax`. */
  readonly withdrawals: WithdrawalRecord[]
  /** What the operator has added to the address book; it holds at most `addressesMax`. */
  readonly addresses: BookAddress[]
}

/** A withdrawal that was made; nothing of it is pending. */
export interface WithdrawalRecord {
  readonly orderId: string
  readonly uid: string
  /** Empty where the client sent none. */
  readonly clientOid: string
  readonly coin: string
  readonly transferType: 'on_chain' | 'internal_transfer'
  /** The chain address, or the UID of the receiving account. */
  readonly to: string
  readonly chain: string
  /** What left the account, the fee included. */
  readonly size: string
  readonly fee: string
  readonly remark: string
  readonly createdAt: number
}

/** Where an account may withdraw to on chain. Set up on the web client; here by the operator. */
export interface BookAddress {
  readonly coin: string
  readonly chain: string
  readonly address: string
  /** Of coins that need one; empty otherwise. */
  readonly tag: string
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
    ...['price', 'size', 'filledBase', 'filledQuote', 'frozen', 'quoteSize'],
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
    const book = new PairMarket<SpotOrder>(ports, { symbol: row.symbol, priceDecimals, sizeDecimals })
    markets.set(row.symbol, { symbol, book, waiting: new Set() })
  }
  const accounts = new Map<string, SpotAccount>()
  for (const { uid } of ports.accounts) {
    accounts.set(uid, {
      ...{ uid, orders: [], byClientOid: new Map() },
      ...{ withdrawals: [], addresses: [] },
    })
  }
  const state: SpotState = { ports, settings, markets, accounts }
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

export function orderNamed({ orders }: SpotAccount, orderId: string): SpotOrder | undefined {
  const order = orders[countFirst(orders, (other) => isIdBefore(other.orderId, orderId))]
  return order?.orderId === orderId ? order : undefined
}

/** Takes an order into the service's lists; an order of an account that is gone stays in the store only. */
export function keepOrder(state: SpotState, order: SpotOrder): void {
  const account = state.accounts.get(order.uid)
  if (account === undefined) return
  account.orders.push(order)
  if (order.isClientOidOwn) account.byClientOid.set(order.clientOid, order)
  const market = state.markets.get(order.symbol)
  if (market === undefined || !isOpen(order)) return
  if (order.status === 'pending') market.waiting.add(order)
  else insertOrder(sideOf(market.book, order), order)
}

/** The account's orders in the market, and those that wait for it. */
export function openOrdersIn({ book, waiting }: SpotMarket, uid: string): SpotOrder[] {
  return [...book.buys.orders, ...book.sells.orders, ...waiting].filter((order) => order.uid === uid)
}

export function forgetOrder(state: SpotState, account: SpotAccount, order: SpotOrder): void {
  account.orders.splice(account.orders.indexOf(order), 1)
  if (account.byClientOid.get(order.clientOid) === order) account.byClientOid.delete(order.clientOid)
  state.ports.rows.drop(SPOT_ORDERS, order)
}
