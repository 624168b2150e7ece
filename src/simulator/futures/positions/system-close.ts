import { symbolOf, venueOf, type CoreState } from '../core-state.ts'
import { fillOrder } from '../../matching/order-lifecycle.ts'
import { enterMatching } from '../orders/futures-venue.ts'
import { createOrder } from '../orders/order-lifecycle.ts'
import { type Order, type OrderTerms } from '../orders/order.ts'
import { type Position } from './position.ts'

/**
 * An order by which the system closes a position, the whole of it unless it says otherwise. Its fills carry the source
 * SYS, and the usual `close` unless it says otherwise.
 */
export function closePosition(
  state: CoreState,
  position: Position,
  { lots, tradeSide }: { readonly lots?: number; readonly tradeSide?: string } = {},
): void {
  enterMatching(state, createOrder(state, closingTerms(position, { systemTradeSide: tradeSide, lots })))
}

/** Closes a whole position at a given price, without the market: settlement at delivery. */
export function settlePosition(
  state: CoreState,
  position: Position,
  settlement: { readonly ticks: number; readonly tradeSide: string },
): void {
  const order = createOrder(state, closingTerms(position, { systemTradeSide: settlement.tradeSide }))
  fillOrder(venueOf(symbolOf(state, position.symbol)), order, {
    lots: position.lots,
    ticks: settlement.ticks,
    scope: 'taker',
  })
}

/** Closes a whole position by a resting limit order of the system: an exit with an execution price. */
export function restClosingOrder(state: CoreState, position: Position, priceTicks: number): Order {
  const order = createOrder(state, closingTerms(position, { priceTicks }))
  enterMatching(state, order)
  return order
}

interface ClosingOptions {
  readonly systemTradeSide?: string | undefined
  readonly lots?: number | undefined
  /** A limit order at this price; a market order without it. */
  readonly priceTicks?: number
}

function closingTerms(
  position: Position,
  { systemTradeSide, priceTicks, lots = position.lots }: ClosingOptions,
): OrderTerms {
  return {
    uid: position.uid,
    symbol: position.symbol,
    clientOid: undefined,
    direction: position.holdSide === 'long' ? 'sell' : 'buy',
    slot: position.slot,
    action: position.slot === 'net' ? 'net' : 'close',
    reduceOnly: position.slot === 'net',
    marginMode: position.marginMode,
    orderType: priceTicks === undefined ? 'market' : 'limit',
    force: 'gtc',
    stpMode: 'none',
    priceTicks: priceTicks ?? 0,
    lots,
    takeProfit: undefined,
    stopLoss: undefined,
    source: 'SYS',
    systemTradeSide,
  }
}
