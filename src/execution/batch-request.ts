import { type Instrument, type MarginMode, type PositionMode } from '../domain/instrument.ts'
import { type OrderTerms } from '../domain/order.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'
import { formatOnGrid } from '../lib/grid.ts'
import { type BatchPlaceItem, type BatchPlaceRequest } from '../protocol/futures/batch-place-order.ts'

/** What every order of an account is sent with. */
export interface OrderAccount {
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
}

/** The wire's body for a batch: one symbol, product type, margin coin and margin mode (ORD6). */
export function buildBatchRequest(
  account: OrderAccount,
  instrument: Instrument,
  orders: readonly OrderTerms[],
): BatchPlaceRequest {
  return {
    symbol: instrument.symbol,
    productType: instrument.productType,
    marginCoin: instrument.marginCoin,
    marginMode: account.marginMode,
    orderList: orders.map((terms) => buildBatchItem(account.positionMode, instrument, terms)),
  }
}

function buildBatchItem(mode: PositionMode, instrument: Instrument, terms: OrderTerms): BatchPlaceItem {
  const { side, tradeSide, reduceOnly } = WIRE_DIRECTIONS[mode][terms.action]
  const priceOf = (ticks: number): string => formatOnGrid(instrument.tick, ticks)
  return {
    size: formatOnGrid(instrument.lot, terms.lots),
    ...(terms.ticks === undefined ? {} : { price: priceOf(terms.ticks) }),
    side,
    ...(tradeSide === undefined ? {} : { tradeSide }),
    orderType: terms.ticks === undefined ? 'market' : 'limit',
    ...(terms.ticks === undefined ? {} : { force: terms.force }),
    clientOid: terms.clientOid,
    ...(reduceOnly === undefined ? {} : { reduceOnly }),
    ...(terms.takeProfitTicks === undefined
      ? {}
      : { presetStopSurplusPrice: priceOf(terms.takeProfitTicks) }),
    ...(terms.stopLossTicks === undefined ? {} : { presetStopLossPrice: priceOf(terms.stopLossTicks) }),
  }
}
