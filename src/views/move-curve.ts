import type { WhatIfView } from '../control/what-if-view.ts'
import {
  computeScenario,
  type FillRule,
  findFirstLiquidation,
  type FirstLiquidation,
  type ScenarioAccount,
} from '../risk/scenario.ts'

/** Per cent, from -30 to 30. */
const CURVE_STEP = 2
const CURVE_POINTS = 15
/** Only its direction counts in the search. */
export const SEARCH_MOVE = 0.1

export type WhatIfCurve = WhatIfView['curve']

export function* drawCurve(account: ScenarioAccount): Generator<void, WhatIfCurve> {
  const moves = Array.from(
    { length: 2 * CURVE_POINTS + 1 },
    (_, index) => ((index - CURVE_POINTS) * CURVE_STEP) / 100,
  )
  const none = yield* drawLine(account, moves, 'none')
  const reached = yield* drawLine(account, moves, 'reached')
  return {
    moves,
    none: none.equities,
    reached: reached.equities,
    liquidations: { none: none.liquidations, reached: reached.liquidations },
  }
}

function* drawLine(account: ScenarioAccount, moves: readonly number[], fill: FillRule) {
  const equities = moves.map((move) => {
    const { equity } = computeScenario(account, { moves: moveAll(account, move), fill })
    return Number.isNaN(equity) ? null : clean(equity)
  })
  yield
  const both = yield* findBoth(account, fill)
  const liquidations = both.flatMap((first, index) =>
    typeof first === 'object' ? [clean(first.share * SEARCH_MOVE * (index === 0 ? -1 : 1))] : [],
  )
  return { equities, liquidations }
}

export type FoundLiquidation = FirstLiquidation | 'none' | 'unknown'

export function* findBoth(
  account: ScenarioAccount,
  fill: FillRule,
): Generator<void, readonly [FoundLiquidation, FoundLiquidation]> {
  const down = findFirstLiquidation(account, { moves: moveAll(account, -SEARCH_MOVE), fill })
  yield
  const up = findFirstLiquidation(account, { moves: moveAll(account, SEARCH_MOVE), fill })
  yield
  return [down, up]
}

export function moveAll(
  { instruments }: ScenarioAccount,
  move: number,
): ReadonlyMap<string, number> {
  return new Map(instruments.map(({ symbol }) => [symbol, move]))
}

/** 100, not 100.00000000000006. */
export function clean(value: number): number {
  return Number(value.toPrecision(12))
}
