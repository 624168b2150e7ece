import { fillOrder } from '../../matching/order-lifecycle.ts'
import { symbolOf, venueOf, type CoreState } from '../core-state.ts'
import { enterMatching } from '../orders/futures-venue.ts'
import { createOrder } from '../orders/order-lifecycle.ts'
import { UNSAID, type Order } from '../orders/order.ts'
import type { Position } from './position.ts'

interface Closing {
  /** The whole position where it is left out. */
  readonly lots?: number
  /** A limit order at this price, which may rest; a market order at 0, and where it is left out. */
  readonly priceTicks?: number
  /** The last price that it follows; 0 where there is none. */
  readonly triggerTicks?: number
  /** Of its fills, instead of the usual `close`. */
  readonly tradeSide?: string
}

/** An order by which the system closes a position: no request of the account made it, so its source is SYS. */
export function closePosition(state: CoreState, position: Position, closing: Closing = {}): void {
  enterMatching(state, createClosingOrder(state, position, closing))
}

/** Closes a whole position at a given price, without the market: settlement at delivery. */
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
  { lots = position.lots, priceTicks = 0, triggerTicks = 0, tradeSide }: Closing,
): Order {
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
