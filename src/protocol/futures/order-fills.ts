import { z } from 'zod'
import { eachRow, knownTextOrNull, textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { isWithinThreeMonths } from '../time-span.ts'
import { answeredId, exchangeId, millisText, pageLimit, productType, symbol } from '../values.ts'

/** Document: "limit (optional, default 100, maximum 100)". */
export const FILLS_PAGE_MAX = 100

const feeDetail = z.object({
  deduction: textOrNull.describe('Whether deducted by vouchers; samples show yes'),
  feeCoin: textOrNull.describe('Fee coin'),
  totalDeductionFee: textOrNull.describe('Total fee discount'),
  totalFee: textOrNull.describe('Total fee; negative when the account pays'),
})

/** Document: Futures fill, without clientOid. */
export const fill = z.object({
  tradeId: answeredId.min(1).describe('Transaction ID'),
  symbol: z.string().min(1).describe('Trading pair'),
  orderId: answeredId.describe('Order ID'),
  price: z.string().describe('Order price'),
  baseVolume: z.string().describe('Amount of coins traded'),
  quoteVolume: textOrNull.describe('Trading amount in quote currency'),
  feeDetail: z.array(feeDetail).nullish().describe('Fees'),
  side: z.enum(['buy', 'sell']).describe('Direction; in hedge mode that of the position'),
  profit: textOrNull.describe('Profit in the margin coin; 0 or empty when it opened'),
  enterPointSource: knownTextOrNull('WEB', 'API', 'SYS', 'ANDROID', 'IOS').describe(
    'Client; SYS is the system, usually forced liquidation. Samples write it in lower case',
  ),
  tradeSide: knownTextOrNull(
    'open',
    'close',
    'reduce_close_long',
    'reduce_close_short',
    'offset_close_long',
    'offset_close_short',
    'burst_close_long',
    'burst_close_short',
    'delivery_close_long',
    'delivery_close_short',
  ).describe(
    'Opens or closes; reduce: partial liquidation; offset: partial liquidation for netting; burst: ' +
      'liquidation; delivery: close at delivery. In one-way mode values vary',
  ),
  posMode: knownTextOrNull('one_way_mode', 'hedge_mode').describe('Position mode'),
  tradeScope: knownTextOrNull('taker', 'maker').describe('Liquidity taken or made'),
  cTime: z.string().describe('Transaction time, Unix ms'),
})

export const orderFills = defineEndpoint({
  name: 'orderFills',
  method: 'GET',
  path: '/api/v2/mix/order/fills',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/mix/order/fills (order fill details)',
  request: z
    .strictObject({
      orderId: exchangeId.describe('Order ID').optional(),
      symbol: symbol.describe('Trading pair').optional(),
      productType: productType.describe('Product type'),
      idLessThan: exchangeId.describe('The page before this trade ID: older data').optional(),
      startTime: millisText
        .describe('From, Unix ms; when missing, three months before endTime')
        .optional(),
      endTime: millisText
        .describe('To, Unix ms; at most, and when missing, three months after startTime')
        .optional(),
      limit: pageLimit({ byDefault: 100, max: FILLS_PAGE_MAX }).optional(),
    })
    .refine(isWithinThreeMonths, {
      path: ['endTime'],
      message: 'startTime and endTime may be at most three months apart',
    }),
  response: z.object({
    fillList: eachRow(fill)
      .nullish()
      .transform((list) => list ?? [])
      .describe('Fills'),
    endId: textOrNull.describe('Final transaction ID, for idLessThan'),
  }),
})

export type WireFill = z.output<typeof fill>
