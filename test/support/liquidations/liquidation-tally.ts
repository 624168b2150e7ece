import {
  COIN_MARGINED,
  type LiquidationPlan,
  LIQUIDATIONS,
  planLiquidation,
  withSilence,
} from './liquidation-plan.ts'
import { type LiquidationOutcome, runLiquidationWorld } from './liquidation-world.ts'

export interface LiquidationTally {
  readonly worlds: number
  readonly coinMargined: number
  readonly liquidatedOn: number
  readonly liquidatedOff: number
  /** Compared liquidation prices, ours and the simulator's; and liquidations that ours foretold. */
  readonly compared: number
  readonly foretold: number
  /** Worlds with protection and a silence, counted separately. */
  readonly silent: SilentTally
  readonly failures: readonly string[]
}

export interface SilentTally {
  readonly worlds: number
  readonly liquidated: number
  /** Lost shares of the initial balance: sum of the worlds, and the worst one. */
  readonly lost: number
  readonly worst: number
}

/** One in this many worlds is also played with a silence. */
const SILENT_EVERY = 10
const NO_SILENCE: SilentTally = { worlds: 0, liquidated: 0, lost: 0, worst: 0 }

export const NO_WORLDS: LiquidationTally = {
  worlds: 0,
  coinMargined: 0,
  liquidatedOn: 0,
  liquidatedOff: 0,
  compared: 0,
  foretold: 0,
  silent: NO_SILENCE,
  failures: [],
}

export function tallyWorld(number: number): LiquidationTally {
  const seed = `${LIQUIDATIONS}${number}`
  const plan = planLiquidation(seed)
  const [on, off] = [runLiquidationWorld(plan, plan.move), runLiquidationWorld(plan, undefined)]
  const both = (of: (outcome: LiquidationOutcome) => number): number => of(on) + of(off)
  return {
    worlds: 1,
    coinMargined: Number(plan.symbols.includes(COIN_MARGINED)),
    liquidatedOn: Math.sign(on.liquidations),
    liquidatedOff: Math.sign(off.liquidations),
    compared: both(({ compared }) => compared),
    foretold: both(({ foretold }) => foretold),
    silent: number % SILENT_EVERY === 0 ? tallySilence(plan) : NO_SILENCE,
    failures: [
      ...(on.liquidations > 0 ? [`${seed}: liquidated with risk.survives of ${plan.move}`] : []),
      ...[on, off].flatMap(({ differences }) => differences),
    ],
  }
}

function tallySilence(plan: LiquidationPlan): SilentTally {
  const { liquidations, left } = runLiquidationWorld(withSilence(plan), plan.move)
  const lost = Math.max(0, 1 - left)
  return { worlds: 1, liquidated: Math.sign(liquidations), lost, worst: lost }
}

export function addTallies(one: LiquidationTally, other: LiquidationTally): LiquidationTally {
  return {
    worlds: one.worlds + other.worlds,
    coinMargined: one.coinMargined + other.coinMargined,
    liquidatedOn: one.liquidatedOn + other.liquidatedOn,
    liquidatedOff: one.liquidatedOff + other.liquidatedOff,
    compared: one.compared + other.compared,
    foretold: one.foretold + other.foretold,
    silent: {
      worlds: one.silent.worlds + other.silent.worlds,
      liquidated: one.silent.liquidated + other.silent.liquidated,
      lost: one.silent.lost + other.silent.lost,
      worst: Math.max(one.silent.worst, other.silent.worst),
    },
    failures: [...one.failures, ...other.failures],
  }
}
