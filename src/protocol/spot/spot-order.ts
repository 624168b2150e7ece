import { z } from 'zod'
import { knownText, textIfAny } from '../answer-values.ts'
import { parseFeeDetail } from './fee-detail.ts'

/**
 * Real answers have tpslType and triggerPrice in both, the document only in the history. Document:
 * Spot order.
 */
const shared = {
  userId: textIfAny.describe('Account ID'),
  symbol: z.string().min(1).describe('Trading pair'),
  orderId: z.string().min(1).describe('Order ID'),
  clientOid: textIfAny.describe('Client order ID'),
  price: textIfAny.describe('Order price'),
  orderType: knownText('limit', 'market').describe('Order type'),
  side: knownText('buy', 'sell').describe('Direction'),
  priceAvg: textIfAny.describe('Average fill price; empty when nothing was filled'),
  baseVolume: textIfAny.describe('Filled volume in base coin'),
  quoteVolume: textIfAny.describe('Filled volume in quote coin'),
  orderSource: knownText(
    'normal',
    'market',
    'spot_trader_buy',
    'spot_follower_buy',
    'spot_trader_sell',
    'spot_follower_sell',
  ).describe('Who placed it: an elite trader, a copy follower, or the account itself'),
  feeDetail: z
    .string()
    .nullish()
    .transform((text, context) => {
      const fees = parseFeeDetail(text ?? '')
      if (typeof fees !== 'string') return fees
      context.addIssue({ code: 'custom', message: fees })
      return z.NEVER
    })
    .describe('Fees: a JSON document serialized into a string'),
  cTime: textIfAny.describe('Creation time, Unix ms'),
  uTime: textIfAny.describe('Update time, Unix ms'),
  tpslType: knownText('normal', 'tpsl').describe(
    'A spot order, or a take-profit or stop-loss order',
  ),
  triggerPrice: textIfAny.describe('Trigger price of a spot tpsl order'),
  cancelReason: knownText('normal_cancel', 'stp_cancel').describe('Empty when not cancelled'),
}

export const spotHistoryOrder = z.object({
  ...shared,
  size: textIfAny.describe('Order amount: base coin for limit, quote coin for market'),
  status: knownText('init', 'new', 'partially_fill', 'full_fill', 'cancelled').describe(
    'Order status',
  ),
  enterPointSource: knownText('WEB', 'APP', 'API', 'SYS', 'ANDROID', 'IOS').describe('Client'),
})

export const spotOrderDetail = z.object({
  ...shared,
  size: textIfAny.describe(
    'Order amount: base coin for limit, quote coin for market buy, base coin for market sell',
  ),
  status: knownText('live', 'partially_filled', 'filled', 'cancelled').describe('Order status'),
  enterPointSource: knownText('WEB', 'IOS', 'ANDROID', 'API', 'SYS').describe('Client'),
})
