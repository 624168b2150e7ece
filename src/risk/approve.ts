import { type AccountCall, takesAway } from '../domain/account-call.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { canRest } from '../domain/order.ts'
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
 * the next one of the batch is judged as if it were open.
 */
export function approve(intent: OrderIntent, context: RiskContext): Verdict {
  for (const check of RISK_CHECKS) {
    const objection = check(intent, context)
    if (objection) return { approved: false, objection }
  }
  countOpen(intent, context)
  noteResting(intent, context)
  context.ownPace.orders += 1
  context.accountPace.orders += 1
  return { approved: true, intent: intent as Approved<OrderIntent> }
}

/**
 * The exposures contain an order that is to be sent again, so it is taken out for the checks. It
 * counts again even if it is denied: an earlier copy may be at the exchange.
 */
export function approveAgain(intent: OrderIntent, context: RiskContext): Verdict {
  takeFromExposure(context.ownExposure, intent.action, intent.lots)
  takeFromExposure(context.accountExposure, intent.action, intent.lots)
  if (context.worstCase) countApproved(context.worstCase, { ...intent, lots: -intent.lots })
  const verdict = approve(intent, context)
  if (!verdict.approved) countOpen(intent, context)
  return verdict
}

function countOpen(
  intent: OrderIntent,
  { ownExposure, accountExposure, worstCase }: RiskContext,
): void {
  addToExposure(ownExposure, intent.action, intent.lots)
  addToExposure(accountExposure, intent.action, intent.lots)
  if (worstCase) countApproved(worstCase, intent)
}

/** The exchange handles a batch in turn: an approved order rests when the next one is handled. */
function noteResting({ action, ticks, force }: OrderIntent, { bestResting }: RiskContext): void {
  if (ticks === undefined || !canRest({ ticks, force })) return
  if (tradesAs(action) === 'buy') bestResting.buyTicks = Math.max(bestResting.buyTicks, ticks)
  else bestResting.sellTicks = Math.min(bestResting.sellTicks, ticks)
}

/**
 * While trading is restricted only calls that cancel are approved.
 * @returns undefined for a denied call
 */
export function approveCall(
  call: AccountCall,
  trading: TradingState,
): Approved<AccountCall> | undefined {
  return trading.mode === 'active' || takesAway(call.endpoint)
    ? (call as Approved<AccountCall>)
    : undefined
}

/**
 * A level of a restricted ladder is reduced to what is left to close. If nothing is left, it stays
 * as it is and is denied.
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
