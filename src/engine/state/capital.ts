import { capitalAt } from '../../domain/capital.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { marginAt } from '../../risk/exposure.ts'
import { ownWorstOf } from './totals.ts'
import { type Core, specOf } from './core.ts'
import { comparableStatement, equityAtWorst, equityOf } from './losses.ts'
import { marketOf } from './market-state.ts'

/** The limit and the use of a strategy's capital, in the margin coin. */
export interface CapitalUse {
  /** NaN while the equity is unknown of which it is a share. */
  readonly max: number
  /** Positions with all open orders filled, at each instrument's leverage. */
  readonly used: number
}

/** Undefined without a `capital` of its own. */
export function capitalUseOf(core: Core, id: StrategyId): CapitalUse | undefined {
  const strategy = core.settings.strategies.get(id)
  if (strategy?.capital === undefined) return undefined
  return {
    max: capitalAt(strategy.capital, equityAtWorst(core)),
    used: usedBeside(core, id, undefined),
  }
}

/** Sizes count from it. It is shown, so it follows our own figure, not the worse of two. */
export function shownCapitalOf(core: Core, id: StrategyId): number | undefined {
  const capital = core.settings.strategies.get(id)?.capital
  return capital && capitalAt(capital, equityOf(core))
}

/** The margin of a strategy on all its instruments but one. */
export function usedBeside(core: Core, id: StrategyId, besides: string | undefined): number {
  const { symbols = [] } = core.settings.strategies.get(id) ?? {}
  return symbols
    .filter((symbol) => symbol !== besides)
    .reduce((sum, symbol) => {
      const lots = ownWorstOf(core, id, symbol)
      return lots === 0 ? sum : sum + marginAt(specOf(core, symbol), lots, priceOf(core, symbol))
    }, 0)
}

/**
 * The last price. A contract that is listed no more counts at its last reading's mark price, so
 * that it does not stop all others. Infinite without both: a position of unknown value must use up
 * every limit.
 */
export function priceOf(core: Core, symbol: string): number {
  const { last } = marketOf(core, symbol)
  if (last > 0) return last
  const mark = comparableStatement(core, symbol)?.markPrice ?? Number.NaN
  return mark > 0 ? mark : Number.POSITIVE_INFINITY
}
