import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { position } from '../futures/single-position.ts'
import { productType, symbol } from '../values.ts'

/** Reads and settings of the futures account outside the document. */

const limit = { calls: 10, perMs: 1000, scope: 'uid' } as const
const limitOfSettings = { calls: 5, perMs: 1000, scope: 'uid' } as const
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

export const account = defineEndpoint({
  name: 'account',
  method: 'GET',
  path: '/api/v2/mix/account/account',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: one futures account',
  outside: true,
  request: z.looseObject({ symbol, productType, marginCoin: anyMarginCoin }),
  response: z.object({
    ...balance,
    crossedMarginLeverage: text,
    isolatedLongLever: text,
    isolatedShortLever: text,
    marginMode: text,
    posMode: text,
  }),
})

export const accounts = defineEndpoint({
  name: 'accounts',
  method: 'GET',
  path: '/api/v2/mix/account/accounts',
  auth: 'schemeA',
  limit,
  retry: 'safe',
  section: 'outside: all futures accounts',
  outside: true,
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
})

export const allPositions = defineEndpoint({
  name: 'allPositions',
  method: 'GET',
  path: '/api/v2/mix/position/all-position',
  auth: 'schemeA',
  limit: limitOfSettings,
  retry: 'safe',
  section: 'outside: all positions',
  outside: true,
  request: z.looseObject({ productType, marginCoin: anyMarginCoin.optional() }),
  response: z.array(
    position.extend({ takeProfit: text, stopLoss: text, takeProfitId: text, stopLossId: text }),
  ),
})

export const setLeverage = defineEndpoint({
  name: 'setLeverage',
  method: 'POST',
  path: '/api/v2/mix/account/set-leverage',
  auth: 'schemeA',
  limit: limitOfSettings,
  retry: 'repeatable',
  section: 'outside: set leverage',
  outside: true,
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
})

export const setMarginMode = defineEndpoint({
  name: 'setMarginMode',
  method: 'POST',
  path: '/api/v2/mix/account/set-margin-mode',
  auth: 'schemeA',
  limit: limitOfSettings,
  retry: 'repeatable',
  section: 'outside: set margin mode',
  outside: true,
  request: z.looseObject({
    symbol,
    productType,
    marginCoin: anyMarginCoin,
    marginMode: z.enum(['isolated', 'crossed']),
  }),
  response: z.object({ symbol: text, marginCoin: text, marginMode: text }),
})

export const setPositionMode = defineEndpoint({
  name: 'setPositionMode',
  method: 'POST',
  path: '/api/v2/mix/account/set-position-mode',
  auth: 'schemeA',
  limit: limitOfSettings,
  retry: 'repeatable',
  section: 'outside: set position mode',
  outside: true,
  request: z.looseObject({ productType, posMode: z.enum(['one_way_mode', 'hedge_mode']) }),
  response: z.object({ posMode: text }),
})
