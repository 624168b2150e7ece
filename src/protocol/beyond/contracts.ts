import { z } from 'zod'
import { knownTextOrNull, textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { productType, symbol } from '../values.ts'

/**
 * The exchange leaves fields out, so only the symbol is required. The tick is priceEndStep ×
 * 10^-pricePlace; a size is a multiple of sizeMultiplier with volumePlace decimals at most.
 */
const contract = z.looseObject({
  symbol: z.string().min(1).describe('Trading pair name'),
  baseCoin: textOrNull.describe('Base coin'),
  quoteCoin: textOrNull.describe('Quote coin'),
  buyLimitPriceRatio: textOrNull.describe('How far above the market a bid may be, as a share'),
  sellLimitPriceRatio: textOrNull.describe('How far below the market an ask may be, as a share'),
  feeRateUpRatio: textOrNull.describe('Increase of the fee that is reserved, as a share'),
  makerFeeRate: textOrNull.describe('Maker fee, as a share'),
  takerFeeRate: textOrNull.describe('Taker fee, as a share'),
  openCostUpRatio: textOrNull.describe('Increase of the opening cost, as a share'),
  supportMarginCoins: z.array(z.string()).nullish().describe('Coins that can be its margin'),
  minTradeNum: textOrNull.describe('Smallest size, in the base coin'),
  priceEndStep: textOrNull.describe('Steps of the last decimal between two prices'),
  volumePlace: textOrNull.describe('Decimals of a size'),
  pricePlace: textOrNull.describe('Decimals of a price'),
  sizeMultiplier: textOrNull.describe('Every size is a multiple of it'),
  symbolType: knownTextOrNull('perpetual', 'delivery').describe('Kind of contract'),
  minTradeUSDT: textOrNull.describe('Smallest price times size of an order, in USDT'),
  maxSymbolOrderNum: textOrNull.describe('Most open orders of the symbol'),
  maxProductOrderNum: textOrNull.describe('Most open orders of the product type'),
  maxPositionNum: textOrNull.describe('Most positions'),
  symbolStatus: knownTextOrNull(
    'listed',
    'normal',
    'maintain',
    'limit_open',
    'restrictedAPI',
    'off',
  ).describe(
    'normal: tradable; listed: not yet; maintain: no opening or closing; limit_open: closing only; restrictedAPI: not through the API; off: removed',
  ),
  offTime: textOrNull.describe('When it is removed, Unix ms; -1: not planned'),
  limitOpenTime: textOrNull.describe('When opening ends, Unix ms; -1: not planned'),
  deliveryTime: textOrNull.describe('Delivery time, Unix ms; delivery contracts only'),
  deliveryStartTime: textOrNull.describe('Delivery start time, Unix ms; delivery contracts only'),
  deliveryPeriod: knownTextOrNull('this_quarter', 'next_quarter').describe(
    'Delivery contracts only',
  ),
  launchTime: textOrNull.describe('Listing time, Unix ms; often empty'),
  openTime: textOrNull.describe('No longer used by the exchange'),
  fundInterval: textOrNull.describe('Hours between two payments of funding'),
  minLever: textOrNull.describe('Lowest leverage'),
  maxLever: textOrNull.describe('Highest leverage'),
  posLimit: textOrNull.describe('Largest share of the open interest that one account may hold'),
  maintainTime: textOrNull.describe('When maintenance begins, Unix ms'),
  maxMarketOrderQty: textOrNull.describe('Largest market order, in the base coin'),
  maxOrderQty: textOrNull.describe('Largest limit order, in the base coin'),
  isRwa: knownTextOrNull('YES', 'NO').describe('Whether it stands for an asset of the real world'),
})

/** Public. Source: https://www.bitget.com/api-doc/contract/market/Get-All-Symbols-Contracts */
export const contracts = defineEndpoint({
  name: 'contracts',
  method: 'GET',
  path: '/api/v2/mix/market/contracts',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'beyond the document (contracts and their rules, public)',
  outside: true,
  listsMarket: true,
  request: z.strictObject({
    productType: productType.describe('Product type'),
    symbol: symbol.optional().describe('Trading pair; absent: all of the product type'),
  }),
  response: z.array(contract),
})
