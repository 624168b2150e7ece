import { type Random } from '../../../src/lib/random.ts'
import { type FaultRates } from '../faults/virtual-faults.ts'
import { MANY_SYMBOLS } from './account-plan.ts'

/** What a matter looks at and changes of a plan. */
interface MatterPlan {
  readonly symbols: readonly string[]
  readonly strategies: readonly MatterStrategy[]
  readonly faults: FaultRates
}

interface MatterStrategy {
  readonly id: string
  readonly symbols: readonly string[]
}

/** Faults of a matter that ordinary draws seldom bring together, and what else it needs. */
interface Matter {
  readonly faults: FaultRates
  readonly change?: (plan: MatterPlan) => object
}

/** One world in so many is about one of them. */
const ONE_IN = 8

const MATTERS: readonly Matter[] = [
  // What rests is called in question, and the process dies around the record of it.
  {
    faults: { liquidated: 0.05, deleveraged: 0.05, deathAtDoubt: 0.8, deathAtHalt: 0.3 },
    change: () => ({ onRestart: 'adopt' }),
  },
  // Somebody trades by hand beside several strategies; what nobody holds is adopted and flattened.
  {
    faults: { tradedByHand: 0.05, adoptedByHand: 0.2, flattenedByHand: 0.04, positionOld: 0.05 },
    change: ({ strategies, symbols }) => ({ strategies: besideEachOther(strategies, symbols) }),
  },
  // Orders are sent again, on several instruments that one call may cancel; a kill or a long sleep meets the copies.
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
  // Orders are refused for good while something is flattened.
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

/** At least two of them, on the same instruments. */
function besideEachOther(
  strategies: readonly MatterStrategy[],
  symbols: readonly string[],
): readonly MatterStrategy[] {
  const [first] = strategies
  const all = strategies.length === 1 && first ? [first, { ...first, id: 's1' }] : strategies
  return all.map((strategy) => ({ ...strategy, symbols: [...symbols] }))
}
