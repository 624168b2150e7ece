import { z } from 'zod'
import { eachRow, knownTextOrNull, textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { marginCoin, productType, symbol } from '../values.ts'

/** Document: Futures position. `totalFee` is empty until the first funding fee. */
export const position = z.object({
  symbol: z.string().min(1).describe('Trading pair'),
  marginCoin: z.string().describe('Margin coin'),
  holdSide: z.enum(['long', 'short']).describe('Direction'),
  openDelegateSize: textOrNull.describe(
    'Amount of the current order still to be filled, base coin',
  ),
  marginSize: textOrNull.describe('Margin amount, margin coin'),
  available: textOrNull.describe('Available amount of the position'),
  locked: textOrNull.describe('Frozen amount in the position'),
  total: z.string().describe('available + locked'),
  leverage: textOrNull.describe('Leverage'),
  achievedProfits: textOrNull.describe('Realized PnL, excluding funding fee and transaction fee'),
  openPriceAvg: textOrNull.describe('Average entry price'),
  marginMode: knownTextOrNull('isolated', 'crossed').describe('Margin mode'),
  posMode: knownTextOrNull('one_way_mode', 'hedge_mode').describe('Position mode'),
  unrealizedPL: textOrNull.describe('Unrealized PnL'),
  liquidationPrice: textOrNull.describe('Estimated liquidation price; at or below 0 there is none'),
  keepMarginRate: textOrNull.describe('Tiered maintenance margin rate'),
  markPrice: textOrNull.describe('Mark price'),
  marginRatio: textOrNull.describe('Maintenance margin rate; 0.1 means 10%'),
  breakEvenPrice: textOrNull.describe('Breakeven price'),
  totalFee: textOrNull.describe('Accumulated funding fee; empty until one was charged'),
  deductedFee: textOrNull.describe('Transaction fees deducted during the position'),
  assetMode: knownTextOrNull('single', 'union').describe('Single asset or multi-asset'),
  cTime: textOrNull.describe('Creation time, Unix ms'),
  uTime: textOrNull.describe('Last update time, Unix ms'),
})

/** `null` does not mean flat; no row does. */
export const singlePosition = defineEndpoint({
  name: 'singlePosition',
  method: 'GET',
  path: '/api/v2/mix/position/single-position',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/mix/position/single-position (single position)',
  request: z.strictObject({
    productType: productType.describe('Product type'),
    symbol: symbol.describe('Trading pair'),
    marginCoin: marginCoin.describe('Margin coin, capitalized'),
  }),
  response: eachRow(position)
    .nullish()
    .transform((list) => list ?? null),
})

export type WirePosition = z.output<typeof position>
