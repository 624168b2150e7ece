import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import {
  clientOid,
  exchangeId,
  force,
  orderReference,
  orderType,
  positiveDecimal,
  side,
  symbol,
} from '../values.ts'
import {
  byEitherId,
  changeColumns,
  pageFields,
  placeColumns,
  publicColumns,
  readColumns,
} from './shared-columns.ts'

/** Spot prices, balances and orders outside the document, which can only read what was ordered. */

const text = textOrNull

export const spotPlaceOrder = defineEndpoint({
  ...placeColumns,
  name: 'spotPlaceOrder',
  path: '/api/v2/spot/trade/place-order',
  request: z.looseObject({
    symbol,
    side,
    orderType,
    force: force.optional(),
    price: positiveDecimal.optional(),
    size: positiveDecimal.describe('Base coin; of a market buy the quote coin'),
    clientOid: clientOid.optional(),
  }),
  response: orderReference,
})

export const spotRows = {
  spotPlaceOrder,
  spotCancelOrder: defineEndpoint({
    ...changeColumns,
    name: 'spotCancelOrder',
    path: '/api/v2/spot/trade/cancel-order',
    request: z.looseObject({ symbol, ...byEitherId }),
    response: orderReference,
  }),
  spotTickers: defineEndpoint({
    ...publicColumns,
    name: 'spotTickers',
    path: '/api/v2/spot/market/tickers',
    request: z.looseObject({ symbol: z.union([symbol, z.literal('')]).optional() }),
    response: z.array(
      z.object({
        symbol: z.string(),
        open: text.describe('24 hours ago'),
        high24h: text,
        low24h: text,
        lastPr: text,
        bidPr: text,
        askPr: text,
        bidSz: text,
        askSz: text,
        baseVolume: text,
        quoteVolume: text,
        usdtVolume: text,
        openUtc: text,
        change24h: text,
        changeUtc24h: text,
        ts: text.describe('Unix ms'),
      }),
    ),
  }),
  spotAssets: defineEndpoint({
    ...readColumns,
    name: 'spotAssets',
    path: '/api/v2/spot/account/assets',
    request: z.looseObject({
      coin: z.string().optional(),
      assetType: z.enum(['hold_only', 'all']).optional().describe('Default: coins that are held'),
    }),
    response: z.array(
      z.object({
        coin: z.string(),
        available: text,
        frozen: text.describe('Tied up in orders'),
        locked: text,
        limitAvailable: text,
        uTime: text,
      }),
    ),
  }),
  spotUnfilledOrders: defineEndpoint({
    ...readColumns,
    name: 'spotUnfilledOrders',
    path: '/api/v2/spot/trade/unfilled-orders',
    limit: { calls: 20, perMs: 1000, scope: 'uid' },
    request: z.looseObject({
      symbol: symbol.optional(),
      ...pageFields,
      orderId: exchangeId.optional(),
      tpslType: z.enum(['normal', 'tpsl']).optional(),
    }),
    response: z.array(
      z.object({
        userId: text,
        symbol: z.string(),
        orderId: z.string(),
        clientOid: text,
        priceAvg: text.describe('The order price'),
        size: text,
        orderType: text,
        side: text,
        status: text.describe('live, partially_filled'),
        basePrice: text.describe('Average price of what was filled'),
        baseVolume: text,
        quoteVolume: text,
        enterPointSource: text,
        orderSource: text,
        triggerPrice: text,
        tpslType: text,
        cTime: text,
        uTime: text,
      }),
    ),
  }),
} as const
