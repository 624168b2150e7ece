import { cancelOrder } from './spot-fill.ts'
import { isOpen, type SpotOrder } from './spot-order.ts'
import { type SpotMarket, type SpotState } from './spot-state.ts'

/**
 * Self-trade prevention: the incoming order's mode decides what becomes of it and of the account's own
 * resting orders that it would meet. Without a mode both stay: orders of the accounts never trade with one
 * another.
 */
export function preventSelfTrade(state: SpotState, market: SpotMarket, order: SpotOrder, now: number): void {
  if (order.stpMode === 'none') return
  const met = [...market.open].filter((other) => wouldMeet(order, other))
  if (met.length === 0) return
  if (order.stpMode !== 'cancel_taker') {
    for (const other of met) cancelOrder(state, other, 'stp_cancel', now)
  }
  if (order.stpMode !== 'cancel_maker') cancelOrder(state, order, 'stp_cancel', now)
}

function wouldMeet(order: SpotOrder, other: SpotOrder): boolean {
  if (other === order || other.uid !== order.uid || other.side === order.side) return false
  if (!isOpen(other) || other.status === 'init' || other.orderType === 'market') return false
  if (order.orderType === 'market') return true
  return order.side === 'buy' ? order.price.gte(other.price) : order.price.lte(other.price)
}
