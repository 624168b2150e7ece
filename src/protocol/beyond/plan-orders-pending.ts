import { z } from 'zod'
import { knownTextOrNull, textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { exchangeId, productType, symbol } from '../values.ts'

export const PLAN_ORDERS_PAGE_MAX = 100

const listedPlan = z.looseObject({
  planType: knownTextOrNull(
    'normal_plan',
    'track_plan',
    'profit_plan',
    'loss_plan',
    'pos_profit',
    'pos_loss',
    'moving_plan',
  ).describe('pos_profit, pos_loss: closes the position; profit_plan, loss_plan: a part of it'),
  symbol: z.string().describe('Trading pair name'),
  orderId: z.string().min(1).describe('Trigger order ID'),
  clientOid: textOrNull.describe('Client trigger order ID'),
  size: textOrNull.describe('Amount, in the base coin'),
  triggerPrice: textOrNull.describe('Trigger price'),
  triggerType: knownTextOrNull('fill_price', 'mark_price').describe('What it watches'),
  executePrice: textOrNull.describe('Execution price; 0 or empty: at the market'),
  callbackRatio: textOrNull.describe('Percent; trailing orders only'),
  planStatus: knownTextOrNull('live', 'not_trigger').describe('live: waits to be triggered'),
  side: knownTextOrNull('buy', 'sell').describe('Direction of the order'),
  posSide: knownTextOrNull('long', 'short', 'net').describe('The position; net: one-way mode'),
  tradeSide: textOrNull.describe('open or close; hedge mode only'),
  posMode: textOrNull.describe('one_way_mode or hedge_mode'),
  marginCoin: textOrNull.describe('Margin coin'),
  marginMode: textOrNull.describe('isolated or crossed'),
  orderType: textOrNull.describe('limit or market'),
  cTime: textOrNull.describe('Creation time, Unix ms'),
  uTime: textOrNull.describe('Update time, Unix ms'),
})

/**
 * With positions' preset exits. Signed. Source:
 * https://www.bitget.com/api-doc/contract/plan/get-orders-plan-pending
 */
export const ordersPlanPending = defineEndpoint({
  name: 'ordersPlanPending',
  method: 'GET',
  path: '/api/v2/mix/order/orders-plan-pending',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'beyond the document (pending trigger orders, signed)',
  outside: true,
  request: z.strictObject({
    planType: z
      .enum(['normal_plan', 'track_plan', 'profit_loss'])
      .describe('normal_plan, track_plan, or profit_loss: the exits of positions'),
    productType: productType.describe('Product type'),
    symbol: symbol.optional().describe('Trading pair; absent: all of the product type'),
    orderId: exchangeId.optional().describe('Only this one'),
    idLessThan: exchangeId.optional().describe('Only those with a lower ID: the next page'),
    limit: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, 'limit is a whole number above zero')
      .optional()
      .describe(`Length of a page, cut to ${PLAN_ORDERS_PAGE_MAX} (default)`),
  }),
  response: z.object({
    entrustedList: z.array(listedPlan).nullish(),
    endId: textOrNull.describe('The last ID of the page'),
  }),
})
