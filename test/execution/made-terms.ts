import { toClientOid, toOrderId, toStrategyId, toTradeId } from '../../src/domain/ids.ts'
import { type Fill } from '../../src/domain/fill.ts'
import type { Order, OrderTerms } from '../../src/domain/order.ts'
import { createSentOrder } from '../../src/execution/order-machine.ts'

export const SENT_AT = 1_704_067_200_000

/** A post-only buy of 10 lots at 1000 ticks, unless told otherwise. */
export function madeTerms(terms: Partial<OrderTerms> & { readonly id?: string } = {}): OrderTerms {
  const { id = 'one', ...rest } = terms
  return {
    clientOid: toClientOid(id),
    strategyId: toStrategyId('grid'),
    symbol: 'BTCUSDT',
    purpose: 'quote',
    key: `quote:BTCUSDT:${id}`,
    generation: 0,
    action: 'openLong',
    lots: 10,
    ticks: 1000,
    force: 'post_only',
    deadlineAt: SENT_AT + 1000,
    ...rest,
  }
}

export function madeSent(terms: Parameters<typeof madeTerms>[0] = {}): Order {
  return createSentOrder(madeTerms(terms), SENT_AT)
}

/** A maker's fill of such an order. */
export function madeFill(fill: Partial<Fill> & { readonly id?: string } = {}): Fill {
  const { id = '1', ...rest } = fill
  return {
    tradeId: toTradeId(id),
    orderId: toOrderId('77'),
    symbol: 'BTCUSDT',
    side: 'buy',
    tradeSide: 'open',
    ticks: 1000,
    lots: 4,
    fee: '0.01',
    profit: '0',
    scope: 'maker',
    source: 'API',
    filledAt: SENT_AT + 100,
    ...rest,
  }
}
