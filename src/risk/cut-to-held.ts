import type { OrderIntent } from '../domain/intent.ts'
import { tradesAs } from '../domain/order-action.ts'
import { leftToClose } from './exposure.ts'
import type { RiskContext } from './risk-context.ts'

/**
 * The rung of a restricted ladder, made as small as what is left to close, so that it has an exit. Where nothing is left
 * it stays as it is, and is denied.
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
