import { z } from 'zod'
import { knownText, listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { isWithin90Days } from '../time-span.ts'
import { exchangeId, millisText, pageLimit } from '../values.ts'

/** Document: "limit (optional, default 20, max 100)". */
export const CONVERT_PAGE_MAX = 100

/** Document: Convert record. Its time is `ts` in the table, `ctime` in the sample. */
const record = z
  .object({
    orderId: z.string().describe('Record ID'),
    fromCoin: textIfAny.describe('Source coin'),
    fromAmount: textIfAny.describe('Source amount'),
    fromCoinPrice: textIfAny.describe('Source coin price'),
    toCoin: textIfAny.describe('Target coin'),
    toAmount: textIfAny.describe('Target amount'),
    toCoinPrice: textIfAny.describe('Target coin price'),
    feeDetail: listOf(
      z.object({ feeCoin: textIfAny.describe('Fee coin'), fee: textIfAny.describe('Fee') }),
    ).describe('Fees'),
    status: knownText('success').describe('Conversion status'),
    ctime: textIfAny.describe('Record time, Unix ms'),
    ts: textIfAny.meta({
      description: 'How the table of the document spells ctime',
      aliasOf: 'ctime',
    }),
  })
  .transform(({ ctime, ts, ...rest }) => ({ ...rest, ts: ctime ?? ts }))

export const convertRecords = defineEndpoint({
  name: 'convertRecords',
  method: 'GET',
  path: '/api/v2/convert/{platform_coin}-convert-records',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/convert/{platform_coin}-convert-records (conversion history)',
  request: z
    .strictObject({
      orderId: exchangeId.describe('Record ID').optional(),
      startTime: millisText.describe('From, Unix ms').optional(),
      endTime: millisText.describe('To, Unix ms; at most 90 days after startTime').optional(),
      limit: pageLimit({ byDefault: 20, max: CONVERT_PAGE_MAX }).optional(),
      idLessThan: exchangeId.describe('ID of the last record of the previous page').optional(),
    })
    .refine(isWithin90Days, {
      path: ['endTime'],
      message: 'startTime and endTime may be at most 90 days apart',
    }),
  response: listOf(record),
})
