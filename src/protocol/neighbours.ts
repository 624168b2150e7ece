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
} from './neighbours/market-rows.ts'
import {
  batchCancelOrders,
  cancelOrder,
  orderDetail,
  ordersPending,
  placeOrder,
} from './neighbours/order-rows.ts'
import { cancelPlanOrder, ordersPlanPending, placePlanOrder } from './neighbours/plan-order-rows.ts'
import { spotCancelOrder, spotPlaceOrder } from './neighbours/spot-rows.ts'

/**
 * Endpoints next door: outside the document, and what public clients call before anything else. Their schemas
 * are minimal and let unknown parameters through. The daemon never depends on them.
 */
export const neighbours = {
  serverTime,
  contracts,
  candles,
  historyCandles,
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
  placePlanOrder,
  ordersPlanPending,
  cancelPlanOrder,
  spotPlaceOrder,
  spotCancelOrder,
} as const

export type NeighbourName = keyof typeof neighbours
export type NeighbourRequestOf<Name extends NeighbourName> = z.input<(typeof neighbours)[Name]['request']>

/** The row with its columns but without its exact schemas. */
export function neighbourNamed(name: NeighbourName): Endpoint {
  return neighbours[name]
}

export const neighbourNames = Object.keys(neighbours) as readonly NeighbourName[]
