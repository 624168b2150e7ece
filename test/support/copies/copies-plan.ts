import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { pick, planWorld, type WorldPlan } from '../world/world-plan.ts'

export const COPIES = 'copies-'

export function planCopies(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/copies/${name}`)
  return {
    ...plan,
    core: {
      ...plan.core,
      // A repeated success for an order of the lost run would look like a new order, so nothing
      // would be proved.
      idempotency: pick(part('idempotency'), [
        'duplicateError',
        'duplicateError',
        'pendingOnly',
      ] as const),
    },
    faults: drawFaults(part),
    skewMs: 0,
    driftPpm: 0,
    isLimited: false,
    isLimitedByEquity: false,
    isTight: false,
    hasTwin: false,
    hasPrefixes: false,
    copy: {
      isStale: part('isStale').integer(4) > 0,
      isKilled: part('isKilled').integer(2) === 0,
      isReleased: part('isReleased').integer(2) === 0,
      foreignTrades: part('foreignTrades').integer(3) === 0 ? 1 + part('trades').integer(3) : 0,
      tradedMs: pick(part('tradedMs'), [2000, 4000, 8000]),
      lostMs: pick(part('lostMs'), [1000, 4000, 12_000]),
    },
  }
}

/** Requests are doubled in most of these worlds: their duplicates prove nothing. */
const RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  requestTwice: [0, 0.1, 0.3],
  answerLost: [0, 0, 0.05],
  serverErrorAfter: [0, 0, 0.05],
  rateLimited: [0, 0, 0.03],
}

/**
 * A doubled cancel-all that is answered for its copy lists none of the orders that it cancelled. If
 * their requests were doubled too, they look like ended orders of a lost run, and nothing at the
 * exchange tells them apart. Then the run ends although its state is the newest, which is safe and
 * needs a person.
 */
export const NEVER_OF_COPIES = ['requestTwice@cancelAllOrders']

function drawFaults(part: (name: string) => Random): WorldPlan['faults'] {
  return Object.fromEntries(
    Object.entries(RATES).flatMap(([fault, rates]) => {
      const rate = pick(part(`faults/${fault}`), rates)
      return rate > 0 ? [[fault, rate]] : []
    }),
  )
}
