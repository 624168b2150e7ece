import { z } from 'zod'
import { knownTextOrNull, textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { productType } from '../values.ts'

/**
 * Document: Futures ticker, where markPrice is missing. Delivery fields are null for perpetual
 * contracts.
 */
export const ticker = z.object({
  symbol: z.string().min(1).describe('Trading pair name'),
  lastPr: textOrNull.describe('Last price; empty before the first trade'),
  askPr: textOrNull.describe('Ask price'),
  bidPr: textOrNull.describe('Bid price'),
  bidSz: textOrNull.describe('Buying amount'),
  askSz: textOrNull.describe('Selling amount'),
  high24h: textOrNull.describe('24h high'),
  low24h: textOrNull.describe('24h low'),
  ts: textOrNull.describe('Data timestamp, Unix ms'),
  change24h: textOrNull.describe('24h price change'),
  baseVolume: textOrNull.describe('Trading volume in the coin'),
  quoteVolume: textOrNull.describe('Trading volume in quote currency'),
  usdtVolume: textOrNull.describe('Trading volume in USDT'),
  openUtc: textOrNull.describe('UTC0 opening price'),
  changeUtc24h: textOrNull.describe('UTC0 24-hour change'),
  indexPrice: textOrNull.describe('Index price'),
  markPrice: textOrNull.describe('Mark price; outside the document, in recorded answers'),
  fundingRate: textOrNull.describe('Funding rate'),
  holdingAmount: textOrNull.describe('Current positions, in number of coins'),
  open24h: textOrNull.describe('Entry price of the last 24 hours, on a rolling basis'),
  deliveryStartTime: textOrNull.describe('Delivery start time; delivery contracts only'),
  deliveryTime: textOrNull.describe('Delivery time; delivery contracts only'),
  deliveryStatus: knownTextOrNull(
    'delivery_config_period',
    'delivery_normal',
    'delivery_before',
    'delivery_period',
  ).describe(
    'Delivery contracts only. config_period: newly listed; before: 10 minutes before delivery, no opening; period: no opening, closing or cancelling',
  ),
})

export const tickers = defineEndpoint({
  name: 'tickers',
  method: 'GET',
  path: '/api/v2/mix/market/tickers',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'GET /api/v2/mix/market/tickers (all tickers, public)',
  listsMarket: true,
  request: z.strictObject({ productType: productType.describe('Product type') }),
  response: z.array(ticker),
})

export type WireTicker = z.output<typeof ticker>
