import { z } from 'zod'
import { listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'

/** Elsewhere the wire says `ts`. */
const at = { ctime: textIfAny.describe('Timestamp, Unix ms') }

const rates = listOf(
  z
    .object({ rate: textIfAny.describe('Rate of profit'), ...at })
    .transform(({ ctime: ts, rate }) => ({ ts, rate })),
)

const profits = listOf(
  z
    .object({ amount: textIfAny.describe('Profit in USDT'), ...at })
    .transform(({ ctime: ts, amount }) => ({ ts, amount })),
)

/** Document: Copy trader summary. */
export const copyOrderTotalDetail = defineEndpoint({
  name: 'copyOrderTotalDetail',
  method: 'GET',
  path: '/api/v2/copy/mix-trader/order-total-detail',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/copy/mix-trader/order-total-detail (tracking order summary)',
  request: z.strictObject({}),
  response: z.object({
    roi: textIfAny.describe('ROI'),
    tradingOrderNum: textIfAny.describe('Total opening orders'),
    totalFollowerNum: textIfAny.describe('Total followers'),
    currentFollowerNum: textIfAny.describe('Current followers'),
    totalpl: textIfAny
      .transform((text) => text?.replace('$', ''))
      .describe('Total profit, in USD; now and then with a dollar sign'),
    gainNum: textIfAny.describe('Ratio of profitable trades'),
    lossNum: textIfAny.describe('Ratio of losing trades'),
    totalEquity: textIfAny.describe('Total assets'),
    winRate: textIfAny.describe('Win rate'),
    tradingPairsAvailableList: listOf(z.string()).describe('Available trading pairs'),
    lastWeekRoiList: rates.describe('Rates of the last week'),
    lastMonthRoiList: rates.describe('Rates of the last month'),
    lastWeekProfitList: profits.describe('Profits of the last week'),
    lastMonthProfitList: profits.describe('Profits of the last month'),
  }),
})
