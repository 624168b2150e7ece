import { z } from 'zod'
import { knownText, listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { symbol } from '../values.ts'

/** Document: Spot symbol. */
const spotSymbol = z.object({
  symbol: z.string().min(1).describe('Trading pair'),
  baseCoin: z.string().describe('Base currency'),
  quoteCoin: z.string().describe('Quote currency'),
  minTradeAmount: textIfAny.describe('Minimum order'),
  maxTradeAmount: textIfAny.describe('Maximum order'),
  takerFeeRate: textIfAny.describe('Default taker fee rate; an individual rate can override it'),
  makerFeeRate: textIfAny.describe('Default maker fee rate; an individual rate can override it'),
  pricePrecision: textIfAny.describe('Price precision'),
  quantityPrecision: textIfAny.describe('Amount precision'),
  quotePrecision: textIfAny.describe('Quote coin precision'),
  minTradeUSDT: textIfAny.describe('Minimum trading volume in USDT'),
  status: knownText('offline', 'gray', 'online', 'halt').describe(
    'offline: maintenance; gray: grey scale; online: normal; halt: trading suspended',
  ),
  buyLimitPriceRatio: textIfAny.describe('Buy-side price spread ratio: 0.05 means 5%'),
  sellLimitPriceRatio: textIfAny.describe('Sell-side price spread ratio: 0.05 means 5%'),
  orderQuantity: textIfAny.describe('Maximum number of orders allowed for the symbol'),
  areaSymbol: knownText('yes', 'no').describe('Whether it is an area symbol'),
})

export const spotSymbols = defineEndpoint({
  name: 'spotSymbols',
  method: 'GET',
  path: '/api/v2/spot/public/symbols',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'GET /api/v2/spot/public/symbols (symbol information, public)',
  listsMarket: true,
  request: z.strictObject({
    symbol: z
      .union([symbol, z.literal('')])
      .describe('Trading pair; when blank, all of them')
      .optional(),
  }),
  response: listOf(spotSymbol),
})
