import type { OrderTerms, TriggerType, UNSAID } from '../orders/order.ts'

/** What a modification may change. */
export interface PlanTerms extends Pick<
  OrderTerms,
  'takeProfit' | 'stopLoss' | 'lots' | 'priceTicks'
> {
  readonly triggerTicks: number
  readonly triggerType: TriggerType
  /** Trailing only: how far the price must come back from its best, in percent. */
  readonly callbackPercent: string | undefined
}

/**
 * A trigger order: it becomes a normal order when its price is reached.
 * pending -> triggered (its order accepted) | failed (its order refused) | cancelled
 */
export interface PlanOrder
  extends Omit<OrderTerms, keyof typeof UNSAID | keyof PlanTerms>, PlanTerms {
  readonly sequence: number
  readonly clientOid: string
  readonly planType: 'normal_plan' | 'track_plan'
  status: 'pending' | 'triggered' | 'failed' | 'cancelled'
  /** Whether the watched price must rise to the trigger (or fall to it). */
  isRising: boolean
  /** Trailing only: the best price since the trigger was reached, in ticks; 0 before that. */
  extremeTicks: number
  readonly createdAt: number
  updatedAt: number
}

export function isPending({ status }: PlanOrder): boolean {
  return status === 'pending'
}
