import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { ticker } from '../futures/tickers.ts'
import { productType, symbol } from '../values.ts'
import { publicColumns } from './shared-columns.ts'

/** Public reads outside the document that clients make before anything else. */

const text = textOrNull

/** One row of the futures' contracts: the tick is priceEndStep × 10^-pricePlace. */
const contract = z.object({
  symbol: z.string(),
  baseCoin: z.string(),
  quoteCoin: z.string(),
  buyLimitPriceRatio: text,
  sellLimitPriceRatio: text,
  feeRateUpRatio: text,
  makerFeeRate: text,
  takerFeeRate: text,
  openCostUpRatio: text,
  supportMarginCoins: z.array(z.string()).nullish(),
  minTradeNum: text.describe('Least size, in base coin'),
  priceEndStep: text.describe('Steps of the last place of a price'),
  volumePlace: text.describe('Decimal places of a size'),
  pricePlace: text.describe('Decimal places of a price'),
  sizeMultiplier: text.describe('A size is a multiple of this'),
  symbolType: text.describe('perpetual or delivery'),
  minTradeUSDT: text.describe('Least notional'),
  maxSymbolOrderNum: text,
  maxProductOrderNum: text,
  maxPositionNum: text,
  symbolStatus: text.describe('normal: can be traded'),
  offTime: text,
  limitOpenTime: text,
  deliveryTime: text,
  deliveryStartTime: text,
  launchTime: text,
  fundInterval: text.describe('Hours between funding'),
  minLever: text,
  maxLever: text,
  posLimit: text,
  maintainTime: text,
  maxMarketOrderQty: text,
  maxOrderQty: text,
})

/** Open time (Unix ms), open, high, low, close, base volume, quote volume. */
const candle = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string(), z.string()])
const candleQuery = z.looseObject({
  symbol,
  productType,
  granularity: z.string().min(1).describe('1m, 5m, 1H, 1D and others'),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
})

const chain = z.object({
  chain: z.string(),
  needTag: text,
  withdrawable: text,
  rechargeable: text,
  withdrawFee: text,
  extraWithdrawFee: text,
  depositConfirm: text,
  withdrawConfirm: text,
  minDepositAmount: text,
  minWithdrawAmount: text,
  browserUrl: text,
  contractAddress: text,
  withdrawStep: text,
  withdrawMinScale: text.describe('Decimal places of a withdrawal'),
  congestion: text,
})

export const marketRows = {
  serverTime: defineEndpoint({
    ...publicColumns,
    name: 'serverTime',
    path: '/api/v2/public/time',
    request: z.looseObject({}),
    response: z.object({ serverTime: z.string().describe('Unix ms') }),
  }),
  contracts: defineEndpoint({
    ...publicColumns,
    name: 'contracts',
    path: '/api/v2/mix/market/contracts',
    request: z.looseObject({ productType, symbol: symbol.optional() }),
    response: z.array(contract),
  }),
  candles: defineEndpoint({
    ...publicColumns,
    name: 'candles',
    path: '/api/v2/mix/market/candles',
    request: candleQuery,
    response: z.array(candle),
  }),
  historyCandles: defineEndpoint({
    ...publicColumns,
    name: 'historyCandles',
    path: '/api/v2/mix/market/history-candles',
    request: candleQuery,
    response: z.array(candle),
  }),
  /** The coin information that the document's withdrawal refers to. */
  spotCoins: defineEndpoint({
    ...publicColumns,
    name: 'spotCoins',
    path: '/api/v2/spot/public/coins',
    limit: { calls: 3, perMs: 1000, scope: 'ip' },
    request: z.looseObject({ coin: z.string().optional() }),
    response: z.array(
      z.object({ coinId: text, coin: z.string(), transfer: text, chains: z.array(chain).nullish() }),
    ),
  }),
  marginCurrencies: defineEndpoint({
    ...publicColumns,
    name: 'marginCurrencies',
    path: '/api/v2/margin/currencies',
    limit: { calls: 10, perMs: 1000, scope: 'ip' },
    request: z.looseObject({}),
    response: z.array(
      z.object({
        symbol: z.string(),
        baseCoin: z.string(),
        quoteCoin: z.string(),
        maxCrossedLeverage: text,
        maxIsolatedLeverage: text,
        warningRiskRatio: text,
        liquidationRiskRatio: text,
        minTradeAmount: text,
        maxTradeAmount: text,
        takerFeeRate: text,
        makerFeeRate: text,
        pricePrecision: text,
        quantityPrecision: text,
        minTradeUSDT: text,
        isBorrowable: z.boolean().nullish(),
        userMinBorrow: text,
        status: text,
        isIsolatedBaseBorrowable: z.boolean().nullish(),
        isIsolatedQuoteBorrowable: z.boolean().nullish(),
        isCrossBorrowable: z.boolean().nullish(),
      }),
    ),
  }),
  symbolTicker: defineEndpoint({
    ...publicColumns,
    name: 'symbolTicker',
    path: '/api/v2/mix/market/ticker',
    request: z.looseObject({ symbol, productType }),
    response: z.array(ticker),
  }),
  symbolPrice: defineEndpoint({
    ...publicColumns,
    name: 'symbolPrice',
    path: '/api/v2/mix/market/symbol-price',
    request: z.looseObject({ symbol, productType }),
    response: z.array(
      z.object({ symbol: z.string(), price: text, indexPrice: text, markPrice: text, ts: text }),
    ),
  }),
} as const
