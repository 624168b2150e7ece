import type { FuturesOrderTerms, TriggerType, UNSAID } from '../orders/order.ts'

export interface PlanTerms extends Pick<
  FuturesOrderTerms,
  'takeProfit' | 'stopLoss' | 'lots' | 'priceTicks'
> {
  readonly triggerTicks: number
  readonly triggerType: TriggerType
  /** For a trailing plan: the retreat from the best price, in percent. */
  readonly callbackPercent: string | undefined
}

/** pending -> triggered (order accepted) | failed (order refused) | cancelled */
export interface PlanOrder
  extends Omit<FuturesOrderTerms, keyof typeof UNSAID | keyof PlanTerms>, PlanTerms {
  readonly sequence: number
  readonly clientOid: string
  readonly planType: 'normal_plan' | 'track_plan'
  status: 'pending' | 'triggered' | 'failed' | 'cancelled'
  isRising: boolean
  /** For a trailing plan: the best price since the trigger was reached; 0 before. */
  extremeTicks: number
  readonly createdAt: number
  updatedAt: number
}

export function isPending({ status }: PlanOrder): boolean {
  return status === 'pending'
}
