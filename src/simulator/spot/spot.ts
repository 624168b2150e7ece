import { decimal } from '../../lib/decimal.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, type OrderReference, type Reply } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'
import { openOrdersOf, pairOf, type OrderNames } from '../services/pair-order.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { cancelOrder, isOpen } from '../matching/order-lifecycle.ts'
import { spotHistory, spotOrderInfo, spotSymbolRows } from './spot-queries.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { textsOf } from '../wallet/rounding.ts'
import { refusals } from '../shared/refusals.ts'
import { defaultSpotSettings, type SpotSettings } from './spot-settings.ts'
import { openSpotState, type SpotState } from './spot-state.ts'
import { createVenue, followPair } from './spot-venue.ts'
import { withdraw } from './withdrawals.ts'

/** Books the opening balances, so it precedes services that spend them. */
export function openSpot(ports: ServicePorts, settings: Partial<SpotSettings> = {}): SpotState {
  const complete = { ...defaultSpotSettings, ...settings }
  const state = openSpotState(ports, complete)
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

/** A clientOid may be the client's or the exchange's. */
export function cancelSpotOrder(
  state: SpotState,
  { uid }: AccountRef,
  { orderId, clientOid, symbol }: OrderNames,
): Reply<OrderReference> {
  if (orderId === undefined && clientOid === undefined) return refusals.idMissing
  const order =
    orderId === undefined
      ? state.orders.of(uid).findLast((other) => other.clientOid === clientOid)
      : state.orders.find(uid, orderId)
  if (order === undefined || order.symbol !== symbol || !isOpen(order)) return refusals.orderUnknown
  cancelOrder(createVenue(state, pairOf(state, symbol)), order, 'user')
  return accept({ orderId: order.id, clientOid: order.clientOid })
}
