import { type Random } from '../../../src/lib/random.ts'
import { type FaultRates } from '../faults/virtual-faults.ts'
import { MANY_SYMBOLS } from './account-plan.ts'

/** Parts of a plan that a matter reads and changes. */
interface MatterPlan {
  readonly symbols: readonly string[]
  readonly strategies: readonly MatterStrategy[]
  readonly faults: FaultRates
}

interface MatterStrategy {
  readonly id: string
  readonly symbols: readonly string[]
}

/** Faults that ordinary draws rarely combine, and other requirements. */
interface Matter {
  readonly faults: FaultRates
  readonly change?: (plan: MatterPlan) => object
}

/** One in this many worlds is about one of them. */
const ONE_IN = 8

const MATTERS: readonly Matter[] = [
  // Resting orders are doubted, and the process dies around that record.
  {
    faults: { liquidated: 0.05, deleveraged: 0.05, deathAtDoubt: 0.8, deathAtHalt: 0.3 },
    change: () => ({ onRestart: 'adopt' }),
  },
  // Others trade by hand beside several strategies; the unheld part is adopted and flattened.
  {
    faults: { tradedByHand: 0.05, adoptedByHand: 0.2, flattenedByHand: 0.04, positionOld: 0.05 },
    change: ({ strategies, symbols }) => ({ strategies: besideEachOther(strategies, symbols) }),
  },
  // Orders are repeated on several instruments that one call may cancel; a kill or a long sleep
  // meets the copies.
  {
    faults: {
      itemRetried: 0.1,
      rateLimited: 0.05,
      requestLost: 0.05,
      killedAtResend: 0.3,
      asleepAtResend: 0.3,
    },
    change: (plan) => ({
      symbols: [...MANY_SYMBOLS],
      strategies: plan.strategies.map((strategy) => ({ ...strategy, symbols: [...MANY_SYMBOLS] })),
      isExclusive: true,
    }),
  },
  // Orders are refused for good during a flatten.
  { faults: { itemRejected: 0.3, flattenedByHand: 0.05, restrictedByHand: 0.03 } },
  // The account is not read for seconds while prices go on.
  { faults: { readsRefused: 0.05, answerLost: 0.1, requestLost: 0.1 } },
]

export function drawMatter<Plan extends MatterPlan>(
  part: (name: string) => Random,
  plan: Plan,
): Plan {
  const place = part('matter').integer(ONE_IN * MATTERS.length)
  const matter = MATTERS[place]
  if (matter === undefined) return plan
  return { ...plan, ...matter.change?.(plan), faults: { ...plan.faults, ...matter.faults } }
}

/** At least two strategies on the same instruments. */
function besideEachOther(
  strategies: readonly MatterStrategy[],
  symbols: readonly string[],
): readonly MatterStrategy[] {
  const [first] = strategies
  const all = strategies.length === 1 && first ? [first, { ...first, id: 's1' }] : strategies
  return all.map((strategy) => ({ ...strategy, symbols: [...symbols] }))
}
