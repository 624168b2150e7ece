import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { exchangeId, millisText, productType, symbol, textOrNull } from '../values.ts'

/** Document: "limit (optional, default 100, maximum 100)". */
export const FILLS_PAGE_MAX = 100

const SPAN_MS_MAX = 93 * 24 * 3_600_000

const feeDetail = z.object({
  deduction: textOrNull,
  feeCoin: textOrNull,
  totalDeductionFee: textOrNull,
  /** Negative when the account pays. */
  totalFee: textOrNull,
})

/** Document: Futures fill. It carries no clientOid. */
export const fill = z.object({
  tradeId: z.string().min(1),
  symbol: z.string().min(1),
  orderId: z.string(),
  price: z.string(),
  baseVolume: z.string(),
  quoteVolume: textOrNull,
  feeDetail: z.array(feeDetail).nullish(),
  side: z.enum(['buy', 'sell']),
  /** Profit realised by this fill, in the margin coin; `0` or empty when it opened. */
  profit: textOrNull,
  enterPointSource: textOrNull,
  /** `open`, `close`, and what the system did: `burst_close_long` and others. In one-way mode values vary. */
  tradeSide: textOrNull,
  posMode: textOrNull,
  tradeScope: textOrNull,
  /** Unix ms. */
  cTime: z.string(),
})

/** Reads the account's fills, newest first, a page at a time. */
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
      orderId: exchangeId.optional(),
      symbol: symbol.optional(),
      productType,
      idLessThan: exchangeId.optional(),
      startTime: millisText.optional(),
      endTime: millisText.optional(),
      limit: z
        .string()
        .regex(/^\d{1,3}$/)
        .refine((text) => Number(text) >= 1 && Number(text) <= FILLS_PAGE_MAX, 'limit is 1 to 100')
        .optional(),
    })
    .refine(
      (query) => Number(query.endTime ?? 0) - Number(query.startTime ?? query.endTime ?? 0) <= SPAN_MS_MAX,
      {
        path: ['endTime'],
        message: 'startTime and endTime may be at most three months apart',
      },
    ),
  response: z.object({
    fillList: z
      .array(fill)
      .nullish()
      .transform((list) => list ?? []),
    endId: textOrNull,
  }),
})

export type WireFill = z.output<typeof fill>
