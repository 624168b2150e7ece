import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import {
  batchResult,
  clientOid,
  decimalText,
  exchangeId,
  force,
  foreignClientOid,
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

/** Orders outside the document, one at a time and by name. */

const limit = { calls: 10, perMs: 1000, scope: 'uid' } as const
const text = textOrNull
const preset = z.union([decimalText, z.literal('')]).optional()
const reduceOnly = z.enum(['YES', 'NO']).optional()
const instrument = { symbol, productType, marginCoin }

export const placeOrder = defineEndpoint({
  name: 'placeOrder',
  method: 'POST',
  path: '/api/v2/mix/order/place-order',
  auth: 'schemeA',
  limit,
  retry: 'protocol',
  section: 'outside: place one order',
  outside: true,
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
})

const byEitherId = { orderId: exchangeId.optional(), clientOid: foreignClientOid.optional() }

export const cancelOrder = defineEndpoint({
  name: 'cancelOrder',
  method: 'POST',
  path: '/api/v2/mix/order/cancel-order',
  auth: 'schemeA',
  limit,
  retry: 'repeatable',
  section: 'outside: cancel one order',
  outside: true,
  request: z.looseObject({ symbol, productType, marginCoin: marginCoin.optional(), ...byEitherId }),
  response: orderReference,
})

const orderIdList = z.array(z.looseObject(byEitherId)).optional()

export const batchCancelOrders = defineEndpoint({
  name: 'batchCancelOrders',
  method: 'POST',
  path: '/api/v2/mix/order/batch-cancel-orders',
  auth: 'schemeA',
  limit,
  retry: 'repeatable',
  section: 'outside: cancel orders in batch',
  outside: true,
  request: z.looseObject({
    productType,
    symbol: symbol.optional(),
    marginCoin: marginCoin.optional(),
    orderIdList,
  }),
  response: batchResult,
})

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

export const orderDetail = defineEndpoint({
  name: 'orderDetail',
  method: 'GET',
  path: '/api/v2/mix/order/detail',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: one order',
  outside: true,
  request: z.looseObject({ symbol, productType, ...byEitherId }),
  response: z.object({
    ...order,
    state: text.describe('live, partially_filled, filled, canceled'),
    cancelReason: text,
  }),
})

export const ordersPending = defineEndpoint({
  name: 'ordersPending',
  method: 'GET',
  path: '/api/v2/mix/order/orders-pending',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: pending orders',
  outside: true,
  request: z.looseObject({
    productType,
    symbol: symbol.optional(),
    status: z.string().optional(),
    idLessThan: exchangeId.optional(),
    startTime: z.string().optional(),
    endTime: z.string().optional(),
    limit: z.string().optional(),
    ...byEitherId,
  }),
  response: z.object({
    entrustedList: z.array(z.object({ ...order, status: text.describe('live, partially_filled') })).nullish(),
    endId: text,
  }),
})

export const ordersHistory = defineEndpoint({
  name: 'ordersHistory',
  method: 'GET',
  path: '/api/v2/mix/order/orders-history',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: filled and cancelled orders',
  outside: true,
  request: z.looseObject({
    productType,
    symbol: symbol.optional(),
    idLessThan: exchangeId.optional(),
    startTime: z.string().optional(),
    endTime: z.string().optional(),
    limit: z.string().optional(),
    ...byEitherId,
  }),
  response: z.object({
    entrustedList: z
      .array(z.object({ ...order, status: text.describe('filled, canceled'), cancelReason: text }))
      .nullish(),
    endId: text,
  }),
})

export const closePositions = defineEndpoint({
  name: 'closePositions',
  method: 'POST',
  path: '/api/v2/mix/order/close-positions',
  auth: 'schemeA',
  limit: { calls: 1, perMs: 1000, scope: 'uid' },
  retry: 'protocol',
  section: 'outside: close positions at the market',
  outside: true,
  request: z.looseObject({
    productType,
    symbol: symbol.optional(),
    holdSide: z.string().optional().describe('Hedge mode: long or short, both when left out'),
  }),
  response: batchResult,
})
