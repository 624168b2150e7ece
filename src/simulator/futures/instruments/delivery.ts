import type { CoreState, SymbolState } from '../core-state.ts'
import { deliveryStatus } from './delivery-status.ts'
import { cancelOrder } from '../orders/order-lifecycle.ts'
import { PLAN_ORDERS, SYMBOLS } from '../stored-entities.ts'
import { refusals } from '../../shared/refusals.ts'
import type { RefusedReply } from '../../shared/reply.ts'
import { settlePosition } from '../positions/system-close.ts'

export function deliveryRefusal(
  symbol: SymbolState,
  now: number,
  isOpening: boolean,
): RefusedReply | undefined {
  if (symbol.isSettled) return refusals.delisted
  switch (deliveryStatus(symbol, now)) {
    case 'delivery_config_period':
      return refusals.openingSoon
    case 'delivery_normal':
      return undefined
    case 'delivery_before':
      return isOpening ? refusals.openingNearDelivery : undefined
    case 'delivery_period':
      return isOpening ? refusals.openingInDelivery : refusals.closingInDelivery
  }
}

export function cancelRefusal(symbol: SymbolState, now: number): RefusedReply | undefined {
  return deliveryStatus(symbol, now) === 'delivery_period' && !symbol.isSettled
    ? refusals.suspended
    : undefined
}

export function isTrading({ instrument, isSettled, opensAt }: SymbolState, now: number): boolean {
  if (isSettled) return false
  return now >= opensAt && now < (instrument.delivery?.deliveryAt ?? Number.POSITIVE_INFINITY)
}

export function settlementAt(state: CoreState, symbol: SymbolState): number {
  if (symbol.isSettled) return Number.POSITIVE_INFINITY
  const { delivery } = symbol.instrument
  const deliveredAt =
    (delivery?.deliveryAt ?? Number.POSITIVE_INFINITY) + state.settings.deliverySettlementMs
  return Math.min(deliveredAt, delistedAt(state, symbol))
}

function delistedAt({ clock }: CoreState, { endsAt }: SymbolState): number {
  return clock.pausedAt > 0 ? Number.POSITIVE_INFINITY : endsAt + clock.pausedMs
}

/** Both sides pay the taker fee. */
export function settleContract(state: CoreState, symbol: SymbolState): void {
  const { buys, sells, positions, planOrders, instrument } = symbol
  const isDelisted = delistedAt(state, symbol) <= state.clock.now
  const ticks = isDelisted
    ? 0
    : (symbol.statistics.read(state.clock.now)?.indexTicks ?? symbol.markTicks)
  const arriving = state.arrivals.filter((order) => order.symbol === instrument.symbol)
  for (const order of [...buys.orders, ...sells.orders, ...arriving])
    cancelOrder(state, order, 'delivery')
  const isHeld = isDelisted && state.settings.delisting === 'hold'
  for (const position of isHeld ? [] : positions.slice()) {
    const tradeSide = `delivery_close_${position.holdSide}`
    settlePosition(state, position, {
      ticks: ticks > 0 ? ticks : symbol.market.lastTicks,
      tradeSide,
    })
  }
  for (const plan of planOrders.splice(0)) {
    plan.status = 'cancelled'
    plan.updatedAt = state.clock.now
    state.rows.put(PLAN_ORDERS, plan)
  }
  symbol.isSettled = true
  state.rows.put(SYMBOLS, symbol)
}
