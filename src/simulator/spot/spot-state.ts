import { PairMarket } from '../services/pair-market.ts'
import { PairOrders } from '../services/pair-order.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import { known } from '../shared/known.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { type SpotOrder } from './spot-order.ts'
import { type SpotSettings } from './spot-settings.ts'
import { readSpotSymbol, type SpotSymbol } from './spot-symbol.ts'

/** Everything the spot service knows. One writer; each function of this module takes it first. */
export interface SpotState {
  readonly ports: ServicePorts
  readonly settings: SpotSettings
  /** By symbol, in the order of the list. */
  readonly markets: ReadonlyMap<string, SpotMarket>
  /** Of each account at most `ordersMax`, and the open ones. */
  readonly orders: PairOrders<SpotOrder>
  /** Of each account at most `withdrawalsMax`. */
  readonly withdrawals: Histories<WithdrawalRecord>
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

export interface SpotMarket {
  readonly symbol: SpotSymbol
  /** Its orders are at most `orderQuantity` an account. */
  readonly book: PairMarket<SpotOrder>
}

/** The state as it was stored; empty at the very first start. */
export function openSpotState(ports: ServicePorts, settings: SpotSettings): SpotState {
  const markets = new Map<string, SpotMarket>()
  for (const row of settings.symbols) {
    const symbol = readSpotSymbol(row)
    markets.set(row.symbol, { symbol, book: new PairMarket<SpotOrder>(ports, symbol) })
  }
  const books = new Map([...markets].map(([symbol, { book }]) => [symbol, book]))
  const { ordersMax, withdrawalsMax } = settings
  return {
    ...{ ports, settings, markets },
    orders: new PairOrders(ports, books, {
      ...{ table: 'spot_orders', ordersMax },
      decimals: ['quoteSize', 'total', 'deducted', 'remainder'],
    }),
    withdrawals: new Histories(ports.rows, {
      codec: { table: 'withdrawals', id: ({ orderId }) => orderId },
      max: withdrawalsMax,
      ownerOf: ({ uid }) => uid,
    }),
  }
}

/** @throws Failure SIMULATOR_UNKNOWN: only for symbols that were checked before. */
export function spotMarketOf({ markets }: SpotState, symbol: string): SpotMarket {
  return known(markets, symbol, 'a spot pair')
}

export function spotBalance(uid: string, coin: string): CoinRef {
  return { uid, balance: 'spot', coin }
}
