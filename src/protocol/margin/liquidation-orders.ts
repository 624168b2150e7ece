import { z } from 'zod'
import { knownText, listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { isWithin90Days } from '../time-span.ts'
import { coin, exchangeId, millisText, pageLimit, symbol } from '../values.ts'
import { MARGIN_PAGE_MAX, toCleanSide } from './open-orders.ts'

/** Fields of the other type (sale or swap) come empty. Document: Margin liquidation record. */
const liquidationRecord = z.object({
  orderId: z.string().min(1).describe('Order number'),
  symbol: textIfAny.describe('type=place_order: trading pair'),
  orderType: knownText('market').describe('type=place_order: order type'),
  side: knownText('liquidation_sell', 'liquidation_buy')
    .transform(toCleanSide)
    .describe('type=place_order: direction; the sample is written with a hyphen'),
  priceAvg: textIfAny.describe('type=place_order: fill price'),
  price: textIfAny.describe('type=place_order: order price'),
  fillSize: textIfAny.describe('type=place_order: filled quantity'),
  size: textIfAny.describe('type=place_order: order size'),
  amount: textIfAny.describe(
    'type=place_order: isolated, the order amount in USDT; cross, the filled amount',
  ),
  fromCoin: textIfAny.describe('type=swap: source currency'),
  toCoin: textIfAny.describe('type=swap: target currency'),
  fromSize: textIfAny.describe('type=swap: source size'),
  toSize: textIfAny.describe('type=swap: target size'),
  cTime: textIfAny.describe('Creation time, Unix ms'),
  uTime: textIfAny.describe('Update time, Unix ms'),
})

const liquidationPage = z.object({
  resultList: listOf(liquidationRecord).describe('Liquidation records'),
  idLessThan: textIfAny.describe('Cursor for the next page'),
})

const liquidationQuery = z
  .strictObject({
    type: z
      .enum(['swap', 'place_order'])
      .meta({ description: 'Conversions, or orders', default: 'place_order' })
      .optional(),
    symbol: symbol.describe('Only with type=place_order; default all symbols').optional(),
    fromCoin: coin.describe('Source currency; only with type=swap').optional(),
    toCoin: coin.describe('Target currency; only with type=swap').optional(),
    startTime: millisText.describe('From, Unix ms').optional(),
    endTime: millisText.describe('To, Unix ms; at most 90 days after startTime').optional(),
    limit: pageLimit({ byDefault: 100, max: MARGIN_PAGE_MAX }).optional(),
    idLessThan: exchangeId
      .describe('The cursor that the previous page returned; not passed on the first query')
      .optional(),
  })
  .refine((query) => query.type !== 'swap' || query.symbol === undefined, {
    path: ['symbol'],
    message: 'symbol is for type=place_order only',
  })
  .refine((query) => query.type === 'swap' || query.fromCoin === undefined, {
    path: ['fromCoin'],
    message: 'fromCoin is for type=swap only',
  })
  .refine((query) => query.type === 'swap' || query.toCoin === undefined, {
    path: ['toCoin'],
    message: 'toCoin is for type=swap only',
  })
  .refine(isWithin90Days, {
    path: ['endTime'],
    message: 'startTime and endTime may be at most 90 days apart',
  })

const columns = {
  method: 'GET',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/liquidation-order and GET /api/v2/margin/crossed/liquidation-order (liquidation orders)',
  request: liquidationQuery,
  response: liquidationPage,
} as const

export const isolatedLiquidationOrders = defineEndpoint({
  ...columns,
  name: 'isolatedLiquidationOrders',
  path: '/api/v2/margin/isolated/liquidation-order',
})

export const crossedLiquidationOrders = defineEndpoint({
  ...columns,
  name: 'crossedLiquidationOrders',
  path: '/api/v2/margin/crossed/liquidation-order',
})
