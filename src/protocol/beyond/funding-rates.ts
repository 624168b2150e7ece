import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { pageLimit, productType, symbol } from '../values.ts'

const oneContract = {
  symbol: symbol.describe('Trading pair'),
  productType: productType.describe('Product type'),
}

export const FUNDING_PAGE_MAX = 100

/**
 * Paid rates, newest first. Public. Source:
 * https://www.bitget.com/api-doc/contract/market/Get-History-Funding-Rate
 */
export const historyFundRate = defineEndpoint({
  name: 'historyFundRate',
  method: 'GET',
  path: '/api/v2/mix/market/history-fund-rate',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'beyond the document (funding rates that were paid, public)',
  outside: true,
  request: z.strictObject({
    ...oneContract,
    pageSize: pageLimit({ byDefault: 20, max: FUNDING_PAGE_MAX, name: 'pageSize' }).optional(),
    pageNo: z
      .string()
      .regex(/^[1-9]\d{0,5}$/, 'the number of a page, from 1')
      .optional()
      .meta({ description: 'Number of the page, from 1', default: '1' }),
  }),
  response: z.array(
    z.looseObject({
      symbol: textOrNull.describe('Trading pair name'),
      fundingRate: z.string().describe('The rate, as a share; positive: longs pay'),
      fundingTime: z.string().describe('When it was paid, Unix ms'),
    }),
  ),
})

/**
 * Next rate, and hours between payments. Public. Source:
 * https://www.bitget.com/api-doc/contract/market/Get-Current-Funding-Rate; real answers also have
 * the interval, as in https://www.bitget.com/api-doc/uta/public/Get-Current-Funding-Rate
 */
export const currentFundRate = defineEndpoint({
  name: 'currentFundRate',
  method: 'GET',
  path: '/api/v2/mix/market/current-fund-rate',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'beyond the document (the next funding rate, public)',
  outside: true,
  request: z.strictObject(oneContract),
  response: z.array(
    z.looseObject({
      symbol: textOrNull.describe('Trading pair name'),
      fundingRate: z.string().describe('The rate, as a share; positive: longs pay'),
      fundingRateInterval: textOrNull.describe('Hours between two payments'),
      nextUpdate: textOrNull.describe('When it is paid next, Unix ms'),
      minFundingRate: textOrNull.describe('Lowest rate, as a share'),
      maxFundingRate: textOrNull.describe('Highest rate, as a share'),
    }),
  ),
})
