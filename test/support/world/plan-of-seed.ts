import { COPIES, planCopies } from '../copies/copies-plan.ts'
import { HAND, planHand } from '../hand/hand-plan.ts'
import { MONEY, planMoney } from '../money/money-plan.ts'
import { MONTHS, planMonths } from '../months/months-plan.ts'
import { planStops, STOPS } from '../stops/stops-plan.ts'
import { planTakeovers, TAKEOVERS } from '../takeovers/takeovers-plan.ts'
import { planUniverse, UNIVERSE } from '../universe/universe-plan.ts'
import { planWire, WIRE } from '../wire/wire-plan.ts'
import { planWorld, type WorldPlan } from './world-plan.ts'

/** The seed selects the kind: `months-7` is the seventh world that lasts for months. */
export function planOfSeed(seed: string): WorldPlan {
  if (seed.startsWith(MONTHS)) return planMonths(seed)
  if (seed.startsWith(MONEY)) return planMoney(seed)
  if (seed.startsWith(WIRE)) return planWire(seed)
  if (seed.startsWith(UNIVERSE)) return planUniverse(seed)
  if (seed.startsWith(STOPS)) return planStops(seed)
  if (seed.startsWith(HAND)) return planHand(seed)
  if (seed.startsWith(COPIES)) return planCopies(seed)
  return seed.startsWith(TAKEOVERS) ? planTakeovers(seed) : planWorld(seed)
}
