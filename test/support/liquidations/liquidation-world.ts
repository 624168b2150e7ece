import { UID } from '../../../src/backtest/direct-exchange.ts'
import { type LiquidationPlan } from './liquidation-plan.ts'
import { OPENING, openScene } from './liquidation-scene.ts'
import { type ComparedPrices, PriceWatch } from './price-watch.ts'

/** Prices have stood still before a leg, so every reading has them. */
const LOOK_MS = 1
const STEP_MS = 1000

export interface LiquidationOutcome extends ComparedPrices {
  readonly liquidations: number
  /** Final balance and unrealised profit as a share of the initial balance. */
  readonly left: number
}

/** @param survived move of `risk.survives`; undefined: no protection */
export function runLiquidationWorld(
  plan: LiquidationPlan,
  survived: number | undefined,
): LiquidationOutcome {
  const scene = openScene(plan, survived)
  const watch = new PriceWatch(scene)
  for (const { overMs, restMs } of plan.legs) {
    // Without protection the first one says all.
    if (survived === undefined && watch.liquidations > 0) break
    const endAt = scene.now + overMs + restMs
    while (scene.now < endAt - LOOK_MS) {
      scene.pass(Math.min(STEP_MS, endAt - LOOK_MS - scene.now))
      watch.look()
    }
    if (plan.silence === undefined) watch.compare()
    scene.pass(LOOK_MS)
  }
  const { core } = scene
  while (!core.advance(scene.now));
  const { coins, positions, counts } = core.ledger(UID)
  const unrealised = positions.reduce((sum, position) => sum + Number(position.unrealised), 0)
  return {
    liquidations: counts.liquidations,
    left: (Number(coins[0]?.balance) + unrealised) / OPENING,
    ...watch.found,
  }
}
