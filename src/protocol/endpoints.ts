import { type z } from 'zod'
import { type Endpoint } from './endpoint.ts'
import { batchPlaceOrder } from './futures/batch-place-order.ts'
import { cancelAllOrders } from './futures/cancel-all-orders.ts'
import { longShortRatio } from './futures/long-short-ratio.ts'
import { modifyPlanOrder } from './futures/modify-plan-order.ts'
import { orderFills } from './futures/order-fills.ts'
import { singlePosition } from './futures/single-position.ts'
import { tickers } from './futures/tickers.ts'

/**
 * The table: a row an endpoint, in the order of the document. The client is one generic call over it, the
 * simulator looks its handlers up by the same names, and every type is inferred from the row.
 */
export const endpoints = {
  batchPlaceOrder,
  cancelAllOrders,
  modifyPlanOrder,
  orderFills,
  singlePosition,
  tickers,
  longShortRatio,
} as const

export type EndpointName = keyof typeof endpoints
export type RequestOf<Name extends EndpointName> = z.input<(typeof endpoints)[Name]['request']>
export type ResponseOf<Name extends EndpointName> = z.output<(typeof endpoints)[Name]['response']>

/** The row with its columns but without its exact schemas: for code that treats all endpoints alike. */
export function endpointNamed(name: EndpointName): Endpoint {
  return endpoints[name]
}

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[]
