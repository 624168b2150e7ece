import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { drawFaults, pick, planWorld, RATES, type WorldPlan } from '../world/world-plan.ts'

export const TAKEOVERS = 'takeovers-'

const FAULTY_MS = [20_000, 30_000, 40_000]

export function planTakeovers(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/takeovers/${name}`)
  return {
    ...plan,
    faults: { ...drawFaults({ part, plan, rates: TAKEOVERS_RATES }), ...drawOwnFaults(part) },
    faultyMs: pick(part('faultyMs'), FAULTY_MS),
    // A limit on leverage admits orders that reduce a strategy's holding; the gross checks ignore
    // that, and in so much time it matters.
    isLimitedByEquity: false,
    isPatient: part('isPatient').integer(30) === 0,
    onRestart: pick(part('onRestart'), ['cancel', 'adopt', 'adopt', 'adopt']),
    // A wish that stands for a while is missed when gone.
    strategies: plan.strategies.map((one) =>
      part(`isSlow/${one.id}`).integer(2) === 0 ? { every: 20, ...one } : one,
    ),
    hasTwin: false,
    hasPrefixes: part('hasPrefixes').integer(60) === 0,
    otherClocks: Array.from({ length: pick(part('others'), [1, 1, 2]) }, (_, index) => ({
      skewMs: part(`skewMs/${index}`).integer(20_000) - 10_000,
      driftPpm: pick(part(`driftPpm/${index}`), [0, 50, -200, 500]),
    })),
  }
}

/** The subject of these worlds is in most of them. */
function drawOwnFaults(part: (name: string) => Random): WorldPlan['faults'] {
  return Object.fromEntries(
    Object.entries(OWN_RATES).flatMap(([fault, rates]) => {
      const rate = pick(part(`own/${fault}`), rates)
      return rate > 0 ? [[fault, rate]] : []
    }),
  )
}

const OWN_RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  hungPastLease: [0.1, 0.2, 0.3],
  leaseCut: [0, 0, 0.01],
  requestLast: [0.2, 0.3, 0.5],
  diskBroken: [0.02, 0.06],
  death: [0, 0.005, 0.015],
}

/**
 * A long sleep is passed over like a short one, and would repeat a spoilt answer in the same way,
 * which is no longer a single mistake.
 */
const TAKEOVERS_RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  ...RATES,
  asleep: [0],
  longDown: [0],
  answerGarbled: [0.01, 0.03],
}
