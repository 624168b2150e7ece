import { UID } from '../../../src/backtest/direct-exchange.ts'
import { type LiquidationPlan } from './liquidation-plan.ts'
import { moneyOf, openScene } from './liquidation-scene.ts'
import { type ComparedPrices, PriceWatch } from './price-watch.ts'

/** Prices have stood still before a leg, so every reading has them. */
const LOOK_MS = 1
const STEP_MS = 1000
/** A market with little displayed waits so long for what is still being closed; a slower reduction is the account's fault. */
const CLOSING_MS_MAX = 120_000

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
  for (const leg of plan.legs) {
    // Without protection the first one says all.
    if (survived === undefined && watch.liquidations > 0) break
    scene.market.begin(leg, scene.now)
    const endAt = scene.now + leg.overMs + leg.restMs
    const pass = (untilAt: number): void => {
      scene.pass(Math.min(STEP_MS, untilAt - scene.now))
      watch.look()
    }
    while (scene.now < endAt - LOOK_MS) pass(endAt - LOOK_MS)
    // The budget is one of moves between two moments at which a reducing order could be filled.
    while (scene.isClosing && scene.now < endAt + CLOSING_MS_MAX) pass(scene.now + STEP_MS)
    if (plan.silence === undefined) watch.compare()
    scene.pass(LOOK_MS)
  }
  const { core } = scene
  while (!core.advance(scene.now));
  const { coins, positions, counts } = core.ledger(UID)
  const unrealised = positions.reduce((sum, position) => sum + Number(position.unrealised), 0)
  return {
    liquidations: counts.liquidations,
    left: (Number(coins[0]?.balance) + unrealised) / Number(moneyOf(plan).balance),
    ...watch.found,
  }
}
