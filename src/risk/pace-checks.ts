import type { Objection } from '../domain/denial.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { tradesAs } from '../domain/order-action.ts'
import { nearestStep } from '../lib/grid.ts'
import type { RiskContext } from './risk-context.ts'

/** Denies an order that would trade with one of ours, of any strategy. A post-only order cannot. */
export function objectToSelfTrade(
  { action, ticks, force }: OrderIntent,
  { account, instrument, market, resting }: RiskContext,
): Objection | undefined {
  if (account.selfTrade !== 'deny' || force === 'post_only') return undefined
  const isBuy = tradesAs(action) === 'buy'
  const reach = ticks ?? nearestStep(instrument.tick, isBuy ? market.ask : market.bid)
  const own = isBuy ? resting.sellTicks : resting.buyTicks
  if (isBuy ? reach < own : reach > own) return undefined
  return { code: 'SELF_TRADE', detail: `at ${reach} ticks, an order of ours rests at ${own}` }
}

/** Limits how many orders leave within a minute, of the strategy and of the account. */
export function objectToPace({ account, strategy, pace }: RiskContext): Objection | undefined {
  return (
    objectToCount('of the strategy', pace.strategy, strategy.ordersPerMinute) ??
    objectToCount('of the account', pace.account, account.ordersPerMinute)
  )
}

function objectToCount(
  whose: string,
  count: () => number,
  max: number | undefined,
): Objection | undefined {
  if (max === undefined) return undefined
  const orders = count()
  return orders < max
    ? undefined
    : { code: 'ORDER_PACE', detail: `${orders} ${whose}, limit ${max}` }
}

/** @param worst What the account could hold, in the quote coin. */
export function objectToLeverage(worst: number, context: RiskContext): Objection | undefined {
  const { leverageMax } = context.account
  if (leverageMax === undefined) return undefined
  const { equity } = context
  if (equity === undefined) return { code: 'LEVERAGE_LIMIT', detail: 'the equity is not known yet' }
  if (worst <= leverageMax * equity) return undefined
  const detail = `could reach ${worst.toFixed(2)} on an equity of ${equity.toFixed(2)}, limit ${leverageMax}`
  return { code: 'LEVERAGE_LIMIT', detail }
}
