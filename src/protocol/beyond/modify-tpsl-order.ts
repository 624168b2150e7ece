import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import {
  decimalText,
  exchangeId,
  foreignClientOid,
  marginCoin,
  orderReference,
  positiveDecimal,
  productType,
  symbol,
  triggerType,
} from '../values.ts'

const empty = z.literal('')

/**
 * Changes a take-profit or stop-loss of a position, the preset ones among them. Signed. Sources:
 * https://www.bitget.com/api-doc/contract/plan/Modify-Tpsl-Order for the fields; `planType` of
 * modify-plan-order is normal_plan or track_plan alone in the client of
 * https://github.com/tiagosiebler/bitget-api (src/types/request/v2/futures.ts), and ccxt's
 * `editOrder` calls this one for take-profits and stop-losses.
 */
export const modifyTpslOrder = defineEndpoint({
  name: 'modifyTpslOrder',
  method: 'POST',
  path: '/api/v2/mix/order/modify-tpsl-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'beyond the document (a take-profit or stop-loss of a position moved, signed)',
  outside: true,
  request: z.strictObject({
    orderId: exchangeId
      .describe('Trigger order ID, or else clientOid; orderId prevails')
      .optional(),
    clientOid: foreignClientOid.describe('Client trigger order ID').optional(),
    marginCoin: marginCoin.describe('Margin coin'),
    productType: productType.describe('Product type'),
    symbol: symbol.describe('Trading pair'),
    triggerPrice: positiveDecimal.describe('New trigger price'),
    triggerType: triggerType.describe('fill_price or mark_price').optional(),
    executePrice: z
      .union([decimalText, empty])
      .describe('Execution price; 0 or empty: at the market')
      .optional(),
    size: z
      .union([positiveDecimal, empty])
      .describe(
        'Amount, in the base coin; for one that closes the whole position it must be there, empty',
      )
      .optional(),
    rangeRate: z.union([positiveDecimal, empty]).describe('Percent; trailing ones only').optional(),
  }),
  response: orderReference,
})
