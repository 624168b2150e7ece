import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { marginCoin, productType, symbol, textOrNull } from '../values.ts'

/** Document: Futures position. `totalFee` is empty until the first funding fee. */
export const position = z.object({
  symbol: z.string().min(1),
  marginCoin: z.string(),
  holdSide: z.enum(['long', 'short']),
  openDelegateSize: textOrNull,
  marginSize: textOrNull,
  available: textOrNull,
  locked: textOrNull,
  total: z.string(),
  leverage: textOrNull,
  achievedProfits: textOrNull,
  openPriceAvg: textOrNull,
  marginMode: textOrNull,
  posMode: textOrNull,
  unrealizedPL: textOrNull,
  liquidationPrice: textOrNull,
  keepMarginRate: textOrNull,
  markPrice: textOrNull,
  marginRatio: textOrNull,
  breakEvenPrice: textOrNull,
  totalFee: textOrNull,
  deductedFee: textOrNull,
  assetMode: textOrNull,
  cTime: textOrNull,
  uTime: textOrNull,
})

/** Reads one symbol's position: no row when flat, one in one-way mode, up to two in hedge mode. */
export const singlePosition = defineEndpoint({
  name: 'singlePosition',
  method: 'GET',
  path: '/api/v2/mix/position/single-position',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/mix/position/single-position (single position)',
  request: z.strictObject({ productType, symbol, marginCoin }),
  response: z
    .array(position)
    .nullish()
    .transform((list) => list ?? []),
})

export type WirePosition = z.output<typeof position>
