import { type ExitRules } from '../../../src/domain/exits.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { pick, planWorld, type WorldPlan } from '../world/world-plan.ts'

export const STOPS = 'stops-'

/** One strategy that rarely changes what it holds, so that its stop is moved more than once. */
export function planStops(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/stops/${name}`)
  const symbols = plan.symbols.slice(0, 2)
  const [first] = plan.strategies
  return {
    ...plan,
    symbols,
    strategies: [
      {
        id: first?.id ?? 's0',
        kind: 'targeter',
        size: 6,
        symbols,
        every: pick(part('every'), [20, 60, 200]),
      },
    ],
    hasStops: true,
    faults: { ...plan.faults, requestLost: 0.1, serverErrorBefore: 0.1 },
    jumps: [],
    isPatient: true,
    isOfMoney: undefined,
    survives: undefined,
    isLimited: false,
    grossNotionalMax: 5_000_000,
    orderNotionalMax: 100_000,
    moveTicks: pick(part('moveTicks'), [plan.moveTicks, 30]),
    faultyMs: pick(part('faultyMs'), [15_000, 30_000]),
  }
}

/**
 * The stop stands further away than a world's prices usually go, and the trailing stop is near:
 * every few seconds the stop at the exchange has to follow it.
 */
export const FOLLOWED_EXITS: ExitRules = {
  stop: { kind: 'share', millionths: 300 },
  stopAtExchange: 320,
  trailing: { after: 10, distance: { kind: 'share', millionths: 150 } },
  breakEven: { after: 100, offset: 0 },
}
