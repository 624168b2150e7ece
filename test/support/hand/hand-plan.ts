import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { pick, planWorld, type WorldPlan } from '../world/world-plan.ts'

export const HAND = 'hand-'

/** Nobody else trades, since whose a take-profit is must be certain; and little is halted. */
const NEVER: readonly FaultKind[] = [
  'tradedByHand',
  'tradedByProgram',
  'orderByHand',
  'liquidated',
  'deleveraged',
  'closedUnseen',
  'modeSwitched',
  'adoptedByHand',
  'flattenedByHand',
  'restrictedByHand',
  'killed',
  'killedAtSend',
  'keyRefused',
  'itemRestricted',
  'marginModeChanged',
  'leverageChanged',
  'gridChanged',
]

/** Figures are unknown for a while in most of these worlds, and processes begin again. */
const RATES: { readonly [Fault in FaultKind]?: readonly number[] } = {
  manualByHand: [0.1, 0.3],
  readsRefused: [0, 0.02, 0.05],
  tickerMissing: [0, 0.05, 0.2],
  tickerStale: [0, 0.05, 0.2],
  death: [0, 0.01, 0.03],
}

/**
 * A person trades beside strategies on few instruments. Orders have take-profits and stop-losses,
 * money is entered and taken out, drawdowns are released, and positions closed in part, also while
 * figures are unknown.
 */
export function planHand(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const part = (name: string): Random => createRandom(`${seed}/hand/${name}`)
  const never = Object.fromEntries(NEVER.map((fault) => [fault, 0]))
  const own = Object.entries(RATES).map(([fault, rates]) => [
    fault,
    pick(part(`faults/${fault}`), rates),
  ])
  return {
    ...plan,
    symbols: plan.symbols.slice(0, 2),
    strategies: plan.strategies.slice(0, 2).map((strategy) => ({
      ...strategy,
      symbols: strategy.symbols.slice(0, 2),
    })),
    faults: { ...plan.faults, ...never, ...Object.fromEntries(own) },
    hasManual: true,
    isOfHands: true,
    isLimited: part('isLimited').integer(2) === 0,
    isLimitedByEquity: true,
    isTight: part('isTight').integer(3) === 0,
    grossNotionalMax: 5_000_000,
    faultyMs: pick(part('faultyMs'), [10_000, 20_000]),
  }
}
