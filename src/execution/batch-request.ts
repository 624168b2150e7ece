import type { Instrument, MarginMode, PositionMode } from '../domain/instrument.ts'
import type { OrderTerms } from '../domain/order.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'
import { formatOnGrid } from '../lib/grid.ts'
import type { BatchPlaceItem, BatchPlaceRequest } from '../protocol/futures/batch-place-order.ts'

/** What all orders of an account have in common. */
export interface OrderAccount {
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
}

/** The terms of an order that are sent. */
export type WireTerms = Pick<
  OrderTerms,
  'clientOid' | 'action' | 'lots' | 'ticks' | 'force' | 'takeProfitTicks' | 'stopLossTicks'
>

/** The wire's body for a batch: one symbol, product type, margin coin and margin mode (ORD6). */
export function buildBatchRequest(
  account: OrderAccount,
  instrument: Instrument,
  orders: readonly WireTerms[],
): BatchPlaceRequest {
  return {
    symbol: instrument.symbol,
    productType: instrument.productType,
    marginCoin: instrument.marginCoin,
    marginMode: account.marginMode,
    orderList: orders.map((terms) => buildBatchItem(account.positionMode, instrument, terms)),
  }
}

function buildBatchItem(
  mode: PositionMode,
  instrument: Instrument,
  terms: WireTerms,
): BatchPlaceItem {
  const { side, tradeSide, reduceOnly } = WIRE_DIRECTIONS[mode][terms.action]
  const priceOf = (ticks: number | undefined) =>
    ticks === undefined ? undefined : formatOnGrid(instrument.tick, ticks)
  const isMarket = terms.ticks === undefined
  // In the order of the document; undefined properties are not written.
  return {
    size: formatOnGrid(instrument.lot, terms.lots),
    price: priceOf(terms.ticks),
    side,
    tradeSide,
    orderType: isMarket ? 'market' : 'limit',
    force: isMarket ? undefined : terms.force,
    clientOid: terms.clientOid,
    reduceOnly,
    presetStopSurplusPrice: priceOf(terms.takeProfitTicks),
    presetStopLossPrice: priceOf(terms.stopLossTicks),
  }
}
