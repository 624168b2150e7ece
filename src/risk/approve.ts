import { type AccountCall, takesAway } from '../domain/account-call.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { Approved } from '../domain/proofs.ts'
import type { TradingState } from '../domain/trading-mode.ts'
import { RISK_CHECKS, type RiskObjection } from './checks.ts'
import { addToExposure, leftToClose, takeFromExposure } from './exposure.ts'
import type { RiskContext } from './risk-context.ts'
import { countApproved } from './worst-case.ts'
import { tradesAs } from '../domain/order-action.ts'

export type Verdict =
  | { readonly approved: true; readonly intent: Approved<OrderIntent> }
  | { readonly approved: false; readonly objection: RiskObjection }

/**
 * Nothing leaves without this approval (RSK1). An approved order joins the exposures at once, so
 * the next is judged as if it were open.
 */
export function approve(intent: OrderIntent, context: RiskContext): Verdict {
  for (const check of RISK_CHECKS) {
    const objection = check(intent, context)
    if (objection) return { approved: false, objection }
  }
  count(intent, context)
  return { approved: true, intent: intent as Approved<OrderIntent> }
}

/**
 * For an order to be sent again. The exposures contain it, so it is taken out for the checks, and
 * counted again even if denied: an earlier copy may be at the exchange.
 */
export function approveAgain(intent: OrderIntent, context: RiskContext): Verdict {
  takeFromExposure(context.ownExposure, intent.action, intent.lots)
  takeFromExposure(context.accountExposure, intent.action, intent.lots)
  if (context.worstCase) countApproved(context.worstCase, { ...intent, lots: -intent.lots })
  const verdict = approve(intent, context)
  if (!verdict.approved) count(intent, context)
  return verdict
}

/** From now on it counts like an open order. */
function count(
  intent: OrderIntent,
  { ownExposure, accountExposure, worstCase }: RiskContext,
): void {
  addToExposure(ownExposure, intent.action, intent.lots)
  addToExposure(accountExposure, intent.action, intent.lots)
  if (worstCase) countApproved(worstCase, intent)
}

/** For a call that places no order; while restricted, only cancels. Undefined: denied. */
export function approveCall(
  call: AccountCall,
  trading: TradingState,
): Approved<AccountCall> | undefined {
  return trading.mode === 'active' || takesAway(call.endpoint)
    ? (call as Approved<AccountCall>)
    : undefined
}

/**
 * A restricted ladder's level is reduced to what is left to close. If nothing is left, it stays and
 * is denied.
 */
export function cutToHeld(
  intent: OrderIntent,
  { holding, ownExposure }: Pick<RiskContext, 'holding' | 'ownExposure'>,
): OrderIntent {
  const side = tradesAs(intent.action)
  const left = leftToClose(side, holding, ownExposure)
  if (left <= 0) return intent
  const lots = Math.min(intent.lots, left)
  if (ownExposure.mode === 'one_way_mode') return { ...intent, lots }
  return { ...intent, lots, action: side === 'buy' ? 'closeShort' : 'closeLong' }
}
