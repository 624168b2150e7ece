import { decimal } from '../../lib/decimal.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, type OrderReference, type Reply } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'
import { isNamed, referenceTo, type OrderNames } from '../services/pair-order.ts'
import { cancelPairOrder, openOrdersOf, openPairs } from '../services/pair-service.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import { spotHistory, spotOrderInfo, spotSymbolRows } from './spot-queries.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { textsOf } from '../wallet/rounding.ts'
import { refusals } from '../shared/refusals.ts'
import {
  defaultSpotSettings,
  type SpotSettings,
  type SpotState,
  type WithdrawalRecord,
} from './spot-state.ts'
import type { SpotOrder } from './spot-order.ts'
import { readSpotSymbol, type SpotSymbol } from './spot-symbol.ts'
import { chargeFee, followPair } from './spot-matching.ts'
import { withdraw } from './withdrawals.ts'

/** Books the opening balances, so it is called before services that spend them. */
export function openSpot(ports: ServicePorts, settings: Partial<SpotSettings> = {}): SpotState {
  const complete = { ...defaultSpotSettings, ...settings }
  const state: SpotState = {
    ...openPairs<SpotOrder, SpotSymbol>(ports, complete.symbols.map(readSpotSymbol), {
      table: 'spot_orders',
      decimals: ['quoteSize', 'total', 'deducted', 'remainder'],
      ordersMax: complete.ordersMax,
      clock: ports.clock,
      balanceOf: () => 'spot',
      isForced: () => false,
      receive: (order, receipt, now) => chargeFee(state, order, receipt, now),
      close: () => undefined,
    }),
    settings: complete,
    withdrawals: new Histories<WithdrawalRecord>(ports.rows, {
      codec: { table: 'withdrawals', id: ({ orderId }) => orderId },
      max: complete.withdrawalsMax,
      ownerOf: ({ uid }) => uid,
    }),
  }
  const opening = { ...complete.opening, [complete.platformCoin.name]: complete.platformOpening }
  for (const { uid } of ports.accounts) {
    for (const [coin, amount] of Object.entries(opening)) {
      const balance = spotBalance(uid, coin)
      if (!ports.wallet.has(balance)) ports.wallet.book(balance, 'opening', decimal(amount))
    }
  }
  for (const pair of state.pairs.values()) followPair(state, pair)
  return state
}

export const spotHandlers = {
  spotHistoryOrders: spotHistory,
  spotOrderInfo,
  spotSymbols: spotSymbolRows,
  spotWithdrawal: withdraw,
} satisfies Handlers<SpotState>

export function spotLedger(state: SpotState, uid: string) {
  const { ports, orders, withdrawals } = state
  return {
    uid,
    coins: [...ports.wallet.coins(uid, 'spot')].map(([coin, { available, frozen }]) => ({
      coin,
      ...textsOf({ available, frozen }),
    })),
    ordersOpen: openOrdersOf(state, uid).length,
    ordersKept: orders.of(uid).length,
    withdrawals: withdrawals.of(uid).length,
  }
}

export function cancelSpotOrder(
  state: SpotState,
  { uid }: AccountRef,
  { orderId, clientOid, symbol }: OrderNames,
): Reply<OrderReference> {
  if (orderId === undefined && clientOid === undefined) return refusals.idMissing
  const names = orderId === undefined ? { symbol, clientOid } : { symbol, orderId }
  const order = openOrdersOf(state, uid).findLast((one) => isNamed(one, names))
  if (order === undefined) return refusals.orderUnknown
  cancelPairOrder(state, order, 'user')
  return accept(referenceTo(order))
}
