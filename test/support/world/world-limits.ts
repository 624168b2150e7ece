import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type LossSettings } from '../../../src/engine/settings.ts'
import { type WorldPlan } from './world-plan.ts'

/** The limits that a world may have beside the others: tight enough to be reached in some. Absent where it has none. */
export function limitsOf({ isLimited, strategies }: WorldPlan) {
  if (!isLimited) return { account: {}, strategy: {}, losses: {} }
  const limits = new Map<Scope, LossLimits>([[ACCOUNT, { daily: 20 }]])
  for (const { id } of strategies) {
    limits.set(strategyScope(id), { drawdown: { warn: 1, reducing: 4, flatten: 10 }, streak: 8 })
  }
  const losses: LossSettings = { timeZone: 'UTC', coolDownMs: 0, limits }
  return {
    account: { rateLimitedPerMinute: 25, unknownOrdersMax: 6 },
    strategy: { rejectionsPerMinute: 40 },
    losses: { losses },
  }
}
