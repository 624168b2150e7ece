import { type Instrument } from '../domain/instrument.ts'
import { type OrderIntent } from '../domain/intent.ts'
import { openLots, type Order } from '../domain/order.ts'
import { tradesAs } from '../domain/order-action.ts'
import { type Holding, netLots } from '../domain/position.ts'

/**
 * How large a position could get if everything open, in flight or unknown on one side were filled, in lots.
 * Both never negative: `buyLots` is the worst case of the net position upwards, `sellLots` downwards.
 */
export interface Exposure {
  net: number
  openBuyLots: number
  openSellLots: number
  openOrders: number
  /** Lots that open orders would close of the long and of the short. */
  closingLongLots: number
  closingShortLots: number
}

/** @param orders all orders that belong to the holding; terminal ones count nothing. */
export function buildExposure(holding: Holding, orders: Iterable<Order>): Exposure {
  const exposure: Exposure = {
    net: netLots(holding),
    openBuyLots: 0,
    openSellLots: 0,
    openOrders: 0,
    closingLongLots: 0,
    closingShortLots: 0,
  }
  for (const order of orders) {
    const lots = openLots(order)
    // A queued order is a candidate of this very round, and is added when it is approved again.
    if (lots > 0 && order.state !== 'queued') addToExposure(exposure, order.terms.action, lots)
  }
  return exposure
}

/** Counts one more order as if it were open. */
export function addToExposure(exposure: Exposure, action: OrderIntent['action'], lots: number): void {
  exposure.openOrders += 1
  if (tradesAs(action) === 'buy') exposure.openBuyLots += lots
  else exposure.openSellLots += lots
  if (action === 'closeLong') exposure.closingLongLots += lots
  if (action === 'closeShort') exposure.closingShortLots += lots
}

/** The largest size, either way, that the position could reach: lots, never negative. */
export function worstLots(exposure: Exposure): number {
  return Math.max(exposure.net + exposure.openBuyLots, exposure.openSellLots - exposure.net, 0)
}

/** The same in quote coin at a price, as a float: limits of notional are not owed to anyone. */
export function worstNotional(exposure: Exposure, instrument: Instrument, price: number): number {
  return (worstLots(exposure) * instrument.lot.units * price) / instrument.lot.scale
}
