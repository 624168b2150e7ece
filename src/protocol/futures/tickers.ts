import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { productType, textOrNull } from '../values.ts'

/** Document: Futures ticker. Delivery fields are null for perpetual contracts. */
export const ticker = z.object({
  symbol: z.string().min(1),
  lastPr: z.string(),
  askPr: textOrNull,
  bidPr: textOrNull,
  bidSz: textOrNull,
  askSz: textOrNull,
  high24h: textOrNull,
  low24h: textOrNull,
  ts: z.string(),
  change24h: textOrNull,
  baseVolume: textOrNull,
  quoteVolume: textOrNull,
  usdtVolume: textOrNull,
  openUtc: textOrNull,
  changeUtc24h: textOrNull,
  indexPrice: textOrNull,
  fundingRate: textOrNull,
  holdingAmount: textOrNull,
  open24h: textOrNull,
  deliveryStartTime: textOrNull,
  deliveryTime: textOrNull,
  deliveryStatus: textOrNull,
})

/** Reads every ticker of a product type. Public. */
export const tickers = defineEndpoint({
  name: 'tickers',
  method: 'GET',
  path: '/api/v2/mix/market/tickers',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'GET /api/v2/mix/market/tickers (all tickers, public)',
  request: z.strictObject({ productType }),
  response: z.array(ticker),
})

export type WireTicker = z.output<typeof ticker>
