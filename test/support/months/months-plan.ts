import { createRandom, type Random } from '../../../src/lib/random.ts'
import { drawFaults, pick, planWorld, RATES, type WorldPlan } from '../world/world-plan.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { drawOutage } from '../faults/outages.ts'
import { QUIET_WAYS } from './quiet.ts'

export const MONTHS = 'months-'

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]

/**
 * Around the memory of daemon and exchange: 5 minutes, 20 minutes, funding, days, a week, 89 days.
 */
const QUIET_MS: readonly (readonly [from: number, to: number])[] = [
  [4 * MINUTE_MS, 7 * MINUTE_MS],
  [18 * MINUTE_MS, 40 * MINUTE_MS],
  [HOUR_MS, 12 * HOUR_MS],
  [HOUR_MS, 12 * HOUR_MS],
  [DAY_MS, 3 * DAY_MS],
  [5 * DAY_MS, 12 * DAY_MS],
  [20 * DAY_MS, 40 * DAY_MS],
]
/** Older fills than the exchange shows would need a person, if none read them. */
const ALL_MS_MAX = 88 * DAY_MS
const JUMPS = [4, 12] as const
const BURST_MS = [1500, 4000] as const
const LOOKS = [2, 7] as const

export function planMonths(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/months/${name}`)
  return {
    ...plan,
    faults: drawMonthsFaults(part, plan),
    faultyMs: pick(part('faultyMs'), [3000, 5000]),
    isPatient: part('isPatient').integer(30) === 0,
    // A daemon that looks often corrects drift; these look every few hours.
    driftPpm: 0,
    hasTwin: part('hasTwin').integer(100) === 0,
    hasPrefixes: part('hasPrefixes').integer(60) === 0,
    jumps: drawJumps(part),
    apiTrader: pick(part('apiTrader'), [0, 0, 4, 12]),
    strategies: plan.strategies.map((strategy) =>
      strategy.kind === 'placer'
        ? { ...strategy, oldKeys: 2 + part(`oldKeys/${strategy.id}`).integer(5) }
        : strategy,
    ),
  }
}

function drawMonthsFaults(part: (name: string) => Random, plan: WorldPlan): WorldPlan['faults'] {
  const rates = drawFaults({ part, plan, rates: MONTHS_RATES })
  // A row that is unreadable twice halts its instrument, also when one reading is handled twice.
  if (rates.fillBroken === undefined) return rates
  const { readingTwice: _, ...others } = rates
  return others
}

function drawJumps(part: (name: string) => Random): WorldPlan['jumps'] {
  const count = between(part('jumps'), JUMPS)
  // A minute costs as much as several bursts.
  const outOf = part('outage')
  const outageAt = outOf.integer(3) === 0 ? outOf.integer(count) : undefined
  const isLong = part('longOutage').integer(4) === 0
  let leftMs = ALL_MS_MAX
  return Array.from({ length: count }, (_, index) => {
    const random = part(`jump/${index}`)
    const burstMs = between(random, BURST_MS)
    const drawnMs = between(random, pick(random, QUIET_MS))
    const quietMs = drawnMs > leftMs ? HOUR_MS : drawnMs
    leftMs -= quietMs
    return {
      burstMs,
      quietMs,
      looks: between(random, LOOKS),
      way: pick(random, QUIET_WAYS),
      ...(index === outageAt && { outage: drawOutage(outOf, isLong) }),
    }
  })
}

function between(random: Random, [from, to]: readonly [number, number]): number {
  return from + random.integer(to - from)
}

/**
 * As in other worlds; faults that make a process miss its burst are rare, since there is quiet
 * enough.
 */
const MONTHS_RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  ...RATES,
  asleep: [0, 0, 0, 0.002],
  longDown: [0, 0, 0.2],
  clockSetFar: [0.005, 0.02],
  strategyEdges: [0.01, 0.1],
  tickerBroken: [0.005, 0.05],
  fillBroken: [0.02, 0.2],
  fillAhead: [0.05, 0.2],
  checkpoint: [0.003, 0.02, 0.05],
}
