import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { drawSurvival, pick, planWorld, type WorldPlan } from '../world/world-plan.ts'

export const MONEY = 'money-'

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]

/** Losses are limited, and little is wrong except the exchange's statements about money. */
export function planMoney(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/money/${name}`)
  const symbols = plan.symbols.slice(0, 1)
  const isCrash = part('isCrash').integer(3) === 0
  const lastsHours = !isCrash && part('lastsHours').integer(3) === 0
  return {
    ...plan,
    symbols,
    strategies: planStrategies(part, plan, symbols),
    faults: drawFaults(part),
    skewMs: 0,
    driftPpm: 0,
    faultyMs: isCrash ? CRASH_MS : pick(part('faultyMs'), [20_000, 30_000]),
    jumps: lastsHours ? drawHours(part('hours')) : [],
    ...(isCrash && { crash: drawCrash(part('crash')) }),
    ...(lastsHours && { lieMsMax: 12 * HOUR_MS }),
    ...(part('isMeasured').integer(2) === 0 && {
      liquidation: { rate: pick(part('rate'), [0.3, 0.4]) },
    }),
    ...drawSurvival(part('survives')),
    // Only closes for a loss may stop an order here.
    orderNotionalMax: 100_000,
    grossNotionalMax: 5_000_000,
    openOrdersMax: 60,
    positionNotionalMax: undefined,
    isLimited: true,
    isLimitedByEquity: true,
    isOfMoney: true,
    hasTwin: false,
    hasPrefixes: part('hasPrefixes').integer(30) === 0,
  }
}

/** One strategy holds much and rarely changes: a lie must meet a position. */
function planStrategies(
  part: (name: string) => Random,
  plan: WorldPlan,
  symbols: string[],
): WorldPlan['strategies'] {
  const [first, ...others] = plan.strategies.map((strategy) => ({
    ...strategy,
    symbols: [...symbols],
  }))
  if (first === undefined) return []
  const holder = {
    ...first,
    kind: 'targeter' as const,
    size: 12,
    every: pick(part('every'), [10, 40, 200]),
  }
  return part('isAlone').integer(2) === 0 ? [holder] : [holder, ...others]
}

/** Mark, profit, counters and prices are misstated in most worlds; some also die or stop. */
const RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  markWrong: [0, 0.02, 0.1],
  profitBlank: [0, 0.02, 0.1],
  counterWrong: [0, 0.05, 0.2],
  pricesWrong: [0, 0.05, 0.1],
  profitMissing: [0, 0, 0.5],
  fillMisstated: [0, 0.1],
  death: [0, 0, 0.01],
  terminated: [0, 0, 0.02],
  checkpoint: [0, 0.02],
}

function drawFaults(part: (name: string) => Random): WorldPlan['faults'] {
  return Object.fromEntries(
    Object.entries(RATES).flatMap(([fault, rates]) => {
      const rate = pick(part(`faults/${fault}`), rates)
      return rate > 0 ? [[fault, rate]] : []
    }),
  )
}

/** After a fall index and mark need a minute to reach the price. */
const CRASH_MS = 80_000

/** Prices move by a fifth or more, and the exchange's statements stand still for longer. */
function drawCrash(random: Random): NonNullable<WorldPlan['crash']> {
  const share = 0.2 + random.integer(10) / 100
  return {
    afterMs: 4000 + random.integer(8000),
    overMs: pick(random, [100, 3000, 10_000]),
    factor: random.integer(2) === 0 ? 1 - share : 1 + share,
    markLagMs: pick(random, [0, 5000, 30_000]),
    indexLagMs: pick(random, [0, 3000]),
  }
}

/** A lie that began in a burst is read for hours. */
function drawHours(random: Random): WorldPlan['jumps'] {
  return Array.from({ length: 1 + random.integer(2) }, () => ({
    burstMs: 4000 + random.integer(6000),
    quietMs: HOUR_MS + random.integer(4 * HOUR_MS) + random.integer(MINUTE_MS),
    looks: 10 + random.integer(20),
    way: 'trading' as const,
  }))
}
