import { fillOrder } from '../../matching/order-lifecycle.ts'
import { symbolOf, venueOf, type CoreState } from '../core-state.ts'
import { enterMatching } from '../orders/futures-venue.ts'
import { createOrder } from '../orders/order-lifecycle.ts'
import { UNSAID, type FuturesOrder } from '../orders/order.ts'
import type { Position } from './position.ts'

interface CloseTerms {
  readonly lots?: number
  readonly priceTicks?: number
  readonly triggerTicks?: number
  readonly tradeSide?: string
}

export function closePosition(
  state: CoreState,
  position: Position,
  closing: CloseTerms = {},
): void {
  enterMatching(state, createClosingOrder(state, position, closing))
}

export function settlePosition(
  state: CoreState,
  position: Position,
  { ticks, tradeSide }: { readonly ticks: number; readonly tradeSide: string },
): void {
  const order = createClosingOrder(state, position, { tradeSide })
  const venue = venueOf(symbolOf(state, position.symbol))
  fillOrder(venue, order, { lots: position.lots, ticks, scope: 'taker' })
}

function createClosingOrder(
  state: CoreState,
  { uid, symbol, slot, marginMode, ...position }: Position,
  { lots = position.lots, priceTicks = 0, triggerTicks = 0, tradeSide }: CloseTerms,
): FuturesOrder {
  return createOrder(state, {
    ...UNSAID,
    uid,
    symbol,
    slot,
    marginMode,
    lots,
    priceTicks,
    triggerTicks,
    direction: position.holdSide === 'long' ? 'sell' : 'buy',
    action: slot === 'net' ? 'net' : 'close',
    reduceOnly: slot === 'net',
    orderType: priceTicks === 0 ? 'market' : 'limit',
    source: 'SYS',
    systemTradeSide: tradeSide,
  })
}
