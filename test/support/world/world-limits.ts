import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type LossSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { type WorldPlan } from './world-plan.ts'

/** What equity is counted from: little, so that shares of it are reached. The exchange has more. */
const CAPITAL = decimal('400')

/** The limits that a world may have beside the others: tight enough to be reached in some. Absent where it has none. */
export function limitsOf({ isLimited, isLimitedByEquity, strategies }: WorldPlan) {
  if (!isLimited) return { account: {}, strategy: {}, losses: { capital: CAPITAL } }
  const drawdown = { warn: 0.005, reducing: 0.02, flatten: 0.04 }
  const ofAccount: LossLimits = { daily: 20, ...(isLimitedByEquity && { drawdown }) }
  const limits = new Map<Scope, LossLimits>([[ACCOUNT, ofAccount]])
  for (const { id } of strategies) {
    limits.set(strategyScope(id), { drawdown: { warn: 1, reducing: 4, flatten: 10 }, streak: 8 })
  }
  const losses: LossSettings = { timeZone: 'UTC', coolDownMs: 0, limits }
  return {
    account: {
      ...{ rateLimitedPerMinute: 25, unknownOrdersMax: 6 },
      ...(isLimitedByEquity && { leverageMax: 3, identicalPerMinute: 40 }),
    },
    strategy: { rejectionsPerMinute: 40, ...(isLimitedByEquity && { identicalPerMinute: 25 }) },
    losses: { losses, capital: CAPITAL },
  }
}
