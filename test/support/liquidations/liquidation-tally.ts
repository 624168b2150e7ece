import { planLiquidation } from './liquidation-plan.ts'
import { type LiquidationOutcome, runLiquidationWorld } from './liquidation-world.ts'

/** What worlds came to, each played with the protections on and without. */
export interface LiquidationTally {
  readonly worlds: number
  /** Worlds in which a position was liquidated. */
  readonly liquidatedOn: number
  readonly liquidatedOff: number
  /** Prices of a liquidation, ours beside the simulator's; and liquidations that our price foretold. */
  readonly compared: number
  readonly foretold: number
  /** What is wrong, with the seed that shows it. */
  readonly failures: readonly string[]
}

export const NO_WORLDS: LiquidationTally = {
  ...{ worlds: 0, liquidatedOn: 0, liquidatedOff: 0, compared: 0, foretold: 0 },
  failures: [],
}

export function tallyWorld(seed: string): LiquidationTally {
  const plan = planLiquidation(seed)
  const [on, off] = [runLiquidationWorld(plan, plan.move), runLiquidationWorld(plan, undefined)]
  const both = (of: (outcome: LiquidationOutcome) => number): number => of(on) + of(off)
  return {
    worlds: 1,
    liquidatedOn: Math.sign(on.liquidations),
    liquidatedOff: Math.sign(off.liquidations),
    compared: both(({ compared }) => compared),
    foretold: both(({ foretold }) => foretold),
    failures: [
      ...(on.liquidations > 0 ? [`${seed}: liquidated with risk.survives of ${plan.move}`] : []),
      ...[on, off].flatMap(({ differences }) => differences),
    ],
  }
}

export function addTallies(one: LiquidationTally, other: LiquidationTally): LiquidationTally {
  return {
    worlds: one.worlds + other.worlds,
    liquidatedOn: one.liquidatedOn + other.liquidatedOn,
    liquidatedOff: one.liquidatedOff + other.liquidatedOff,
    compared: one.compared + other.compared,
    foretold: one.foretold + other.foretold,
    failures: [...one.failures, ...other.failures],
  }
}
