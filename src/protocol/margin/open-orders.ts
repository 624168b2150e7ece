import { z } from 'zod'
import { knownText, listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, exchangeId, millisText, pageLimit, symbol } from '../values.ts'

/** Document: "`systemRepay-selll` (spelled so)". */
const MISSPELT_SIDE = 'systemRepay-selll'

export function toCleanSide(side: string | undefined): string | undefined {
  if (side === MISSPELT_SIDE) return 'systemRepay-sell'
  return side?.replace('liquidation_', 'liquidation-')
}

function marginOrder(...sides: readonly string[]) {
  return z.object({
    symbol: z.string().min(1).describe('Trading pair'),
    orderId: z.string().min(1).describe('Order ID'),
    clientOid: textIfAny.describe('Client-defined ID'),
    size: textIfAny.describe('Filled quantity'),
    priceAvg: textIfAny.describe('Fill price; the cross endpoint describes it as the order price'),
    amount: textIfAny.describe('Described as filled quantity'),
    price: textIfAny.describe('Order price'),
    force: knownText('gtc', 'post_only', 'fok', 'ioc').describe('Time in force'),
    enterPointSource: knownText('WEB', 'IOS', 'ANDROID', 'API', 'SYS').describe(
      'Client; SYS is the system, usually forced liquidation',
    ),
    status: knownText('live', 'partial_fill', 'filled', 'cancelled', 'reject').describe(
      'Order status',
    ),
    side: knownText(...sides)
      .transform(toCleanSide)
      .describe('Direction'),
    baseSize: textIfAny.describe('Quantity in base coin'),
    quoteSize: textIfAny.describe('Quantity in quote coin'),
    orderType: knownText('limit', 'market').describe('Order type'),
    loanType: knownText('normal', 'autoLoan', 'autoRepay', 'autoLoanAndRepay').describe(
      'Borrows or repays with the order, or does not',
    ),
    cTime: textIfAny.describe('Creation time, Unix ms'),
    uTime: textIfAny.describe('Update time, Unix ms'),
  })
}

const isolatedOrder = marginOrder('sell', 'buy')

/** Crossed margin also has the system's actions as sides. */
const crossedOrder = marginOrder(
  'sell',
  'buy',
  'liquidation-buy',
  'liquidation-sell',
  'systemRepay-buy',
  MISSPELT_SIDE,
)

function openOrdersPage<Order extends z.ZodType>(order: Order) {
  return z.object({
    orderList: listOf(order).describe('Current orders'),
    maxId: textIfAny.describe('The largest ID of the result'),
    minId: textIfAny.describe('The smallest ID of the result: the next page is idLessThan=minId'),
  })
}

const columns = {
  method: 'GET',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/open-orders and GET /api/v2/margin/crossed/open-orders (current orders)',
} as const

const query = {
  symbol: symbol.describe('Trading pair'),
  orderId: exchangeId.describe('Order ID').optional(),
  clientOid: clientOid.describe('Client-defined ID').optional(),
}

/** Document: "limit — optional, default 100, max 500". */
export const MARGIN_PAGE_MAX = 500

export const isolatedOpenOrders = defineEndpoint({
  ...columns,
  name: 'isolatedOpenOrders',
  path: '/api/v2/margin/isolated/open-orders',
  request: z.strictObject({
    ...query,
    startTime: millisText.describe('From, Unix ms').optional(),
    endTime: millisText.describe('To, Unix ms').optional(),
    limit: pageLimit({ byDefault: 100, max: MARGIN_PAGE_MAX }).optional(),
  }),
  response: openOrdersPage(isolatedOrder),
})

/** The document gives `limit` no maximum. */
export const crossedOpenOrders = defineEndpoint({
  ...columns,
  name: 'crossedOpenOrders',
  path: '/api/v2/margin/crossed/open-orders',
  request: z.strictObject({
    ...query,
    startTime: millisText.describe('From, Unix ms'),
    endTime: millisText.describe('To, Unix ms').optional(),
    limit: pageLimit({ byDefault: 100 }).optional(),
    idLessThan: exchangeId
      .describe('Records with a smaller ID than the last loanId returned')
      .optional(),
  }),
  response: openOrdersPage(crossedOrder),
})
