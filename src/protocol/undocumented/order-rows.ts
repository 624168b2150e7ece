import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import {
  batchResult,
  clientOid,
  decimalText,
  force,
  marginCoin,
  marginMode,
  orderReference,
  orderType,
  positiveDecimal,
  productType,
  side,
  stpMode,
  symbol,
  tradeSide,
} from '../values.ts'
import { byEitherId, changeColumns, pageFields, placeColumns, readColumns } from './shared-columns.ts'

/** Orders outside the document, one at a time and by name. */

const text = textOrNull
const preset = z.union([decimalText, z.literal('')]).optional()
const reduceOnly = z.enum(['YES', 'NO']).optional()
const instrument = { symbol, productType, marginCoin }

const orderIdList = z.array(z.looseObject(byEitherId)).optional()

/** What pending orders and an order's detail say alike. */
const order = {
  symbol: z.string(),
  size: text,
  orderId: z.string(),
  clientOid: text,
  baseVolume: text.describe('Filled, in base coin'),
  quoteVolume: text,
  fee: text,
  price: text,
  priceAvg: text.describe('Empty when nothing was filled'),
  side: text,
  force: text,
  totalProfits: text,
  posSide: text,
  marginCoin: text,
  leverage: text,
  marginMode: text,
  reduceOnly: text,
  enterPointSource: text,
  tradeSide: text,
  posMode: text,
  orderType: text,
  orderSource: text,
  presetStopSurplusPrice: text,
  presetStopLossPrice: text,
  cTime: text,
  uTime: text,
}

export const orderRows = {
  placeOrder: defineEndpoint({
    ...placeColumns,
    name: 'placeOrder',
    path: '/api/v2/mix/order/place-order',
    request: z.looseObject({
      ...instrument,
      marginMode,
      size: positiveDecimal,
      price: positiveDecimal.optional(),
      side,
      tradeSide: tradeSide.optional(),
      orderType,
      force: force.optional(),
      clientOid: clientOid.optional(),
      reduceOnly,
      presetStopSurplusPrice: preset,
      presetStopLossPrice: preset,
      stpMode: stpMode.optional(),
    }),
    response: orderReference,
  }),
  cancelOrder: defineEndpoint({
    ...changeColumns,
    name: 'cancelOrder',
    path: '/api/v2/mix/order/cancel-order',
    request: z.looseObject({ symbol, productType, marginCoin: marginCoin.optional(), ...byEitherId }),
    response: orderReference,
  }),
  batchCancelOrders: defineEndpoint({
    ...changeColumns,
    name: 'batchCancelOrders',
    path: '/api/v2/mix/order/batch-cancel-orders',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      marginCoin: marginCoin.optional(),
      orderIdList,
    }),
    response: batchResult,
  }),
  orderDetail: defineEndpoint({
    ...readColumns,
    name: 'orderDetail',
    path: '/api/v2/mix/order/detail',
    request: z.looseObject({ symbol, productType, ...byEitherId }),
    response: z.object({
      ...order,
      state: text.describe('live, partially_filled, filled, canceled'),
      cancelReason: text,
    }),
  }),
  ordersPending: defineEndpoint({
    ...readColumns,
    name: 'ordersPending',
    path: '/api/v2/mix/order/orders-pending',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      status: z.string().optional(),
      ...pageFields,
      ...byEitherId,
    }),
    response: z.object({
      entrustedList: z
        .array(z.object({ ...order, status: text.describe('live, partially_filled') }))
        .nullish(),
      endId: text,
    }),
  }),
  ordersHistory: defineEndpoint({
    ...readColumns,
    name: 'ordersHistory',
    path: '/api/v2/mix/order/orders-history',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      ...pageFields,
      ...byEitherId,
    }),
    response: z.object({
      entrustedList: z
        .array(z.object({ ...order, status: text.describe('filled, canceled'), cancelReason: text }))
        .nullish(),
      endId: text,
    }),
  }),
  closePositions: defineEndpoint({
    ...placeColumns,
    name: 'closePositions',
    path: '/api/v2/mix/order/close-positions',
    limit: { calls: 1, perMs: 1000, scope: 'uid' },
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      holdSide: z.string().optional().describe('Hedge mode: long or short, both when left out'),
    }),
    response: batchResult,
  }),
} as const
