import { type z } from 'zod'
import { type Endpoint } from './endpoint.ts'
import {
  account,
  accounts,
  allPositions,
  setLeverage,
  setMarginMode,
  setPositionMode,
} from './neighbours/account-rows.ts'
import {
  candles,
  contracts,
  historyCandles,
  marginCurrencies,
  serverTime,
  spotCoins,
  symbolPrice,
  symbolTicker,
} from './neighbours/market-rows.ts'
import {
  crossedCancelOrder,
  crossedPlaceOrder,
  isolatedCancelOrder,
  isolatedPlaceOrder,
} from './neighbours/margin-rows.ts'
import {
  batchCancelOrders,
  cancelOrder,
  closePositions,
  orderDetail,
  ordersHistory,
  ordersPending,
  placeOrder,
} from './neighbours/order-rows.ts'
import { cancelPlanOrder, ordersPlanPending, placePlanOrder } from './neighbours/plan-order-rows.ts'
import {
  spotAssets,
  spotCancelOrder,
  spotPlaceOrder,
  spotTickers,
  spotUnfilledOrders,
} from './neighbours/spot-rows.ts'

/**
 * Endpoints next sender: outside the document, and what public clients call before anything else. Their schemas
 * are minimal and let unknown parameters through. The daemon never depends on them.
 */
export const neighbours = {
  serverTime,
  contracts,
  candles,
  historyCandles,
  symbolTicker,
  symbolPrice,
  spotTickers,
  spotCoins,
  marginCurrencies,
  account,
  accounts,
  allPositions,
  setLeverage,
  setMarginMode,
  setPositionMode,
  placeOrder,
  cancelOrder,
  batchCancelOrders,
  orderDetail,
  ordersPending,
  ordersHistory,
  closePositions,
  placePlanOrder,
  ordersPlanPending,
  cancelPlanOrder,
  spotPlaceOrder,
  spotCancelOrder,
  spotUnfilledOrders,
  spotAssets,
  isolatedPlaceOrder,
  crossedPlaceOrder,
  isolatedCancelOrder,
  crossedCancelOrder,
} as const

export type NeighbourName = keyof typeof neighbours
export type NeighbourRequestOf<Name extends NeighbourName> = z.input<(typeof neighbours)[Name]['request']>

/** The row with its columns but without its exact schemas. */
export function neighbourNamed(name: NeighbourName): Endpoint {
  return neighbours[name]
}

export const neighbourNames = Object.keys(neighbours) as readonly NeighbourName[]
