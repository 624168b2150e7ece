import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type LossSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { type WorldPlan } from './world-plan.ts'

/** The largest order of a strategy, in lots. */
export const ORDER_LOTS_MAX = 5

/** Initial equity: small, so that shares of it are reached. The exchange has more. */
const CAPITAL = decimal('400')

/** Losses and unknown orders of a world of a minute: tight limits are reached in many. */
const TIGHT = {
  daily: 0.5,
  drawdown: { warn: 0.0003, reducing: 0.0008, flatten: 0.001 },
  ofStrategy: { drawdown: { warn: 0.1, reducing: 0.3, flatten: 0.36 }, streak: 3 },
  rateLimitedPerMinute: 2,
  unknownOrdersMax: 2,
  rejectionsPerMinute: 3,
}
const WIDE = {
  daily: 20,
  drawdown: { warn: 0.005, reducing: 0.02, flatten: 0.04 },
  ofStrategy: { drawdown: { warn: 1, reducing: 4, flatten: 10 }, streak: 8 },
  rateLimitedPerMinute: 25,
  unknownOrdersMax: 6,
  rejectionsPerMinute: 40,
}
const OF_MONEY = {
  ...WIDE,
  daily: 25,
  drawdown: { warn: 0.03, reducing: 0.05, flatten: 0.08 },
  ofStrategy: { drawdown: { warn: 10, reducing: 20, flatten: 32 }, streak: 8 },
}

/** Further limits of a world; absent if it has none. */
export function limitsOf({
  isLimited,
  isLimitedByEquity,
  isTight,
  isOfMoney,
  strategies,
  positionNotionalMax,
  timeZone = 'UTC',
}: WorldPlan) {
  const byValue = positionNotionalMax === undefined ? {} : { positionNotionalMax }
  if (!isLimited) return { account: {}, strategy: byValue, losses: { capital: CAPITAL } }
  const { daily, drawdown, ofStrategy, rejectionsPerMinute, ...ofAccount } = isOfMoney
    ? OF_MONEY
    : isTight
      ? TIGHT
      : WIDE
  const limits = new Map<Scope, LossLimits>([
    [ACCOUNT, { daily, ...(isLimitedByEquity && { drawdown }) }],
  ])
  for (const { id } of strategies) limits.set(strategyScope(id), ofStrategy)
  const losses: LossSettings = { timeZone, coolDownMs: 0, limits }
  return {
    account: { ...ofAccount, ...(isLimitedByEquity && { leverageMax: 3, identicalPerMinute: 40 }) },
    strategy: {
      ...byValue,
      rejectionsPerMinute,
      ...(isLimitedByEquity && { identicalPerMinute: 25 }),
    },
    losses: { losses, capital: CAPITAL },
  }
}
