import { type UniverseRule } from '../../../src/domain/universe.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { POSITIONS_ON_WIRE_MAX } from '../../../src/interpreter/account-reader.ts'
import { MANY_SYMBOLS } from '../world/account-plan.ts'
import { pick, planWorld, type WorldPlan } from '../world/world-plan.ts'

export const UNIVERSE = 'universe-'

/** More members than positions are read at once, so that some wait as they leave. */
const LARGE_LIST = [
  ...MANY_SYMBOLS,
  ...Array.from({ length: POSITIONS_ON_WIRE_MAX }, (_, index) => `A${index}USDT`),
]

export function planUniverse(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/universe/${name}`)
  const isLarge = part('isLarge').integer(5) === 0
  const symbols = isLarge ? LARGE_LIST : [...MANY_SYMBOLS]
  return {
    ...plan,
    symbols,
    strategies: plan.strategies.map((strategy) => ({ ...strategy, symbols })),
    universe: {
      everyMs: pick(part('everyMs'), [1000, 2000, 5000]),
      count: 1 + part('count').integer(3) + (isLarge ? POSITIONS_ON_WIRE_MAX : 0),
      stickyMs: pick(part('stickyMs'), [0, 0, 3000]),
      leaving: pick(part('leaving'), ['close', 'close', 'keep', 'handBack'] as const),
      hasFixed: part('hasFixed').integer(3) === 0,
      readMax: isLarge ? LARGE_LIST.length : pick(part('readMax'), [4, 4, 3, 2]),
      ...(part('changesPerDay').integer(4) === 0 && { changesPerDay: 3 }),
    },
    faults: Object.fromEntries(
      Object.entries(plan.faults).filter(([fault]) => !NEVER.has(fault as FaultKind)),
    ),
    jumps: [],
    isOfMoney: undefined,
    liquidation: undefined,
    survives: undefined,
    faultyMs: pick(part('faultyMs'), [15_000, 30_000]),
  }
}

/** What others do by hand on an instrument that is not read would be found much later. */
const NEVER: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'tradedByHand',
  'tradedByProgram',
  'orderByHand',
  'closedUnseen',
])

export function ruleOf(universe: NonNullable<WorldPlan['universe']>): UniverseRule {
  const { everyMs, count, stickyMs, leaving, changesPerDay } = universe
  return {
    everyMs,
    include: [],
    exclude: [],
    top: { count, by: 'volume', order: 'highest' },
    stickyMs,
    ...(changesPerDay !== undefined && { changesPerDay }),
    leaving,
  }
}
