import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { drawFaults, pick, planWorld, RATES, type WorldPlan } from '../world/world-plan.ts'

/** Seeds of worlds with several machines and one lease begin so. */
export const TAKEOVERS = 'takeovers-'

/** Of several takeovers each. */
const FAULTY_MS = [20_000, 30_000, 40_000]

/** A world in which machines take the account over from each other, with everything else that can go wrong. */
export function planTakeovers(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/takeovers/${name}`)
  return {
    ...plan,
    faults: { ...drawFaults({ part, plan, rates: TAKEOVERS_RATES }), ...drawOwnFaults(part) },
    faultyMs: pick(part('faultyMs'), FAULTY_MS),
    // A limit on leverage lets pass what takes back a strategy's own; the checks of the gross do not know that, and in so
    // much time it matters.
    isLimitedByEquity: false,
    isPatient: part('isPatient').integer(30) === 0,
    onRestart: pick(part('onRestart'), ['cancel', 'adopt', 'adopt', 'adopt']),
    // What stands for a while is missed when it is gone.
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

/** What these worlds are about is there in most of them. */
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
 * As in any world. A machine that sleeps for a quarter of an hour is passed over as one that sleeps for seconds, and in
 * so much time an answer would be spoilt twice in the same way, which is no mistake any more.
 */
const TAKEOVERS_RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  ...RATES,
  asleep: [0],
  longDown: [0],
  answerGarbled: [0.01, 0.03],
}
