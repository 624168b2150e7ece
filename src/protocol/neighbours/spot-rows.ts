import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import {
  clientOid,
  exchangeId,
  force,
  foreignClientOid,
  orderReference,
  orderType,
  positiveDecimal,
  side,
  symbol,
} from '../values.ts'

/** Spot prices, balances and orders outside the document, which can only read what was ordered. */

const text = textOrNull
const limit = { calls: 10, perMs: 1000, scope: 'uid' } as const

export const spotPlaceOrder = defineEndpoint({
  name: 'spotPlaceOrder',
  method: 'POST',
  path: '/api/v2/spot/trade/place-order',
  auth: 'schemeA',
  limit,
  retry: 'protocol',
  section: 'outside: place a spot order',
  outside: true,
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

export const spotCancelOrder = defineEndpoint({
  name: 'spotCancelOrder',
  method: 'POST',
  path: '/api/v2/spot/trade/cancel-order',
  auth: 'schemeA',
  limit,
  retry: 'repeatable',
  section: 'outside: cancel a spot order',
  outside: true,
  request: z.looseObject({
    symbol,
    orderId: exchangeId.optional(),
    clientOid: foreignClientOid.optional(),
  }),
  response: orderReference,
})

export const spotTickers = defineEndpoint({
  name: 'spotTickers',
  method: 'GET',
  path: '/api/v2/spot/market/tickers',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'outside: spot tickers',
  outside: true,
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
})

export const spotAssets = defineEndpoint({
  name: 'spotAssets',
  method: 'GET',
  path: '/api/v2/spot/account/assets',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: spot balances',
  outside: true,
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
})

export const spotUnfilledOrders = defineEndpoint({
  name: 'spotUnfilledOrders',
  method: 'GET',
  path: '/api/v2/spot/trade/unfilled-orders',
  auth: 'schemeA',
  limit: { calls: 20, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'outside: open spot orders',
  outside: true,
  request: z.looseObject({
    symbol: symbol.optional(),
    startTime: z.string().optional(),
    endTime: z.string().optional(),
    idLessThan: exchangeId.optional(),
    limit: z.string().optional(),
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
})
