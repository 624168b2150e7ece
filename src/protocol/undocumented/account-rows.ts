import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { position } from '../futures/single-position.ts'
import { productType, symbol } from '../values.ts'
import { changeColumns, readColumns } from './shared-columns.ts'

/** Reads and settings of the futures account outside the document. */

const settingsLimit = { calls: 5, perMs: 1000, scope: 'uid' } as const
const text = textOrNull
/** Samples of these endpoints also write it in lower case. */
const anyMarginCoin = z.string().regex(/^[A-Za-z0-9]{2,20}$/, 'a margin coin such as USDT')

const balance = {
  marginCoin: z.string(),
  locked: text,
  available: text.describe('What new orders may use, without the profit of open positions'),
  crossedMaxAvailable: text,
  isolatedMaxAvailable: text,
  maxTransferOut: text,
  accountEquity: text,
  usdtEquity: text,
  btcEquity: text,
  crossedRiskRate: text,
  unrealizedPL: text,
  coupon: text,
  crossedUnrealizedPL: text,
  isolatedUnrealizedPL: text,
  assetMode: text,
}

export const accountRows = {
  account: defineEndpoint({
    ...readColumns,
    name: 'account',
    path: '/api/v2/mix/account/account',
    request: z.looseObject({ symbol, productType, marginCoin: anyMarginCoin }),
    response: z.object({
      ...balance,
      crossedMarginLeverage: text,
      isolatedLongLever: text,
      isolatedShortLever: text,
      marginMode: text,
      posMode: text,
    }),
  }),
  accounts: defineEndpoint({
    ...readColumns,
    name: 'accounts',
    path: '/api/v2/mix/account/accounts',
    request: z.looseObject({ productType }),
    response: z.array(
      z.object({
        ...balance,
        unionTotalMagin: text.describe('Spelled so'),
        unionAvailable: text,
        unionMm: text,
        isolatedMargin: text,
        crossedMargin: text,
        assetList: z.array(z.object({ coin: z.string(), balance: text, available: text })).nullish(),
      }),
    ),
  }),
  allPositions: defineEndpoint({
    ...readColumns,
    name: 'allPositions',
    path: '/api/v2/mix/position/all-position',
    limit: settingsLimit,
    request: z.looseObject({ productType, marginCoin: anyMarginCoin.optional() }),
    response: z.array(
      position.extend({ takeProfit: text, stopLoss: text, takeProfitId: text, stopLossId: text }),
    ),
  }),
  setLeverage: defineEndpoint({
    ...changeColumns,
    limit: settingsLimit,
    name: 'setLeverage',
    path: '/api/v2/mix/account/set-leverage',
    request: z.looseObject({
      symbol,
      productType,
      marginCoin: anyMarginCoin,
      leverage: z.string().optional(),
      longLeverage: z.string().optional(),
      shortLeverage: z.string().optional(),
      holdSide: z.enum(['long', 'short']).optional(),
    }),
    response: z.object({
      symbol: text,
      marginCoin: text,
      longLeverage: text,
      shortLeverage: text,
      crossMarginLeverage: text,
      marginMode: text,
    }),
  }),
  setMarginMode: defineEndpoint({
    ...changeColumns,
    limit: settingsLimit,
    name: 'setMarginMode',
    path: '/api/v2/mix/account/set-margin-mode',
    request: z.looseObject({
      symbol,
      productType,
      marginCoin: anyMarginCoin,
      marginMode: z.enum(['isolated', 'crossed']),
    }),
    response: z.object({ symbol: text, marginCoin: text, marginMode: text }),
  }),
  setPositionMode: defineEndpoint({
    ...changeColumns,
    limit: settingsLimit,
    name: 'setPositionMode',
    path: '/api/v2/mix/account/set-position-mode',
    request: z.looseObject({ productType, posMode: z.enum(['one_way_mode', 'hedge_mode']) }),
    response: z.object({ posMode: text }),
  }),
} as const
