import { type Instrument, isInverse, type PositionMode } from '../domain/instrument.ts'
import { openLots, type Order } from '../domain/order.ts'
import { type OrderAction, tradesAs } from '../domain/order-action.ts'
import { type Holding, netLots } from '../domain/position.ts'

/**
 * Lots that the position could reach if everything open, in flight or unknown on one side were
 * filled.
 */
export interface Exposure {
  readonly mode: PositionMode
  /** In one-way mode these are the net position and its negative, in hedge mode the two legs. */
  readonly longLots: number
  readonly shortLots: number
  /** In one-way mode these are all buys and sells, in hedge mode openings. */
  addingLongLots: number
  addingShortLots: number
  closingLongLots: number
  closingShortLots: number
  /** Closing orders in quarantine: they can close nothing more. */
  heldClosingLongLots: number
  heldClosingShortLots: number
  buyingLots: number
  sellingLots: number
  openOrders: number
}

/** Orders that have ended count nothing. */
export function buildExposure(
  mode: PositionMode,
  holding: Holding,
  orders: Iterable<Order>,
): Exposure {
  const oneWay = mode === 'one_way_mode'
  const exposure: Exposure = {
    mode,
    longLots: oneWay ? netLots(holding) : holding.longLots,
    shortLots: oneWay ? -netLots(holding) : holding.shortLots,
    addingLongLots: 0,
    addingShortLots: 0,
    closingLongLots: 0,
    closingShortLots: 0,
    heldClosingLongLots: 0,
    heldClosingShortLots: 0,
    buyingLots: 0,
    sellingLots: 0,
    openOrders: 0,
  }
  for (const order of orders) {
    const lots = openLots(order)
    if (lots > 0) addToExposure(exposure, order.terms.action, lots)
    if (order.state !== 'quarantined') continue
    if (order.terms.action === 'closeLong') exposure.heldClosingLongLots += lots
    else if (order.terms.action === 'closeShort') exposure.heldClosingShortLots += lots
  }
  return exposure
}

/** @returns lots that one more order may close; below zero where the open orders close too many */
export function leftToClose(side: 'buy' | 'sell', holding: Holding, own: Exposure): number {
  const isNet = own.mode === 'one_way_mode'
  return side === 'buy'
    ? holding.shortLots - (isNet ? own.buyingLots : own.closingShortLots)
    : holding.longLots - (isNet ? own.sellingLots : own.closingLongLots)
}

export function addToExposure(exposure: Exposure, action: OrderAction, lots: number): void {
  exposure.openOrders += 1
  countLots(exposure, action, lots)
}

export function takeFromExposure(exposure: Exposure, action: OrderAction, lots: number): void {
  exposure.openOrders -= 1
  countLots(exposure, action, -lots)
}

function countLots(exposure: Exposure, action: OrderAction, lots: number): void {
  const oneWay = exposure.mode === 'one_way_mode'
  const buys = tradesAs(action) === 'buy'
  if (buys) exposure.buyingLots += lots
  else exposure.sellingLots += lots
  if (oneWay ? buys : action === 'openLong') exposure.addingLongLots += lots
  if (oneWay ? !buys : action === 'openShort') exposure.addingShortLots += lots
  if (action === 'closeLong') exposure.closingLongLots += lots
  else if (action === 'closeShort') exposure.closingShortLots += lots
}

export function worstOnSide(exposure: Exposure, action: OrderAction): number {
  return tradesAs(action) === 'buy'
    ? exposure.longLots + exposure.addingLongLots
    : exposure.shortLots + exposure.addingShortLots
}

export function worstLots(exposure: Exposure): number {
  const long = Math.max(0, exposure.longLots + exposure.addingLongLots)
  const short = Math.max(0, exposure.shortLots + exposure.addingShortLots)
  return exposure.mode === 'one_way_mode' ? Math.max(long, short) : long + short
}

/** Quote coin. A float is exact enough for limits. */
export function notionalAt(instrument: Instrument, lots: number, price: number): number {
  return (lots * instrument.lot.units * price) / instrument.lot.scale
}

export function marginAt(instrument: Instrument, lots: number, price: number): number {
  const worth = notionalAt(instrument, lots, isInverse(instrument) ? 1 : price)
  return worth / (instrument.leverage ?? 1)
}
