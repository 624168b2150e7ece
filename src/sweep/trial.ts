import { sha256Hex } from '../lib/digest.ts'
import type { ParamSet } from './param-sets.ts'
import { sharpeOf } from './statistics.ts'
import type { Objective } from './sweep-file.ts'

/** A combination on a range of the prices. Unix ms, the end excluded. */
export interface Trial {
  readonly params: ParamSet
  readonly fromAt: number
  readonly toAt: number
}

/**
 * The result of a trial's backtest: figures of its report. Money in the margin coin, shares 0 to 1.
 */
export interface TrialFigures {
  readonly final: string
  readonly return: number | null
  readonly drawdown: number | null
  readonly sharpe: number | null
  readonly positions: number | null
  readonly winners: number | null
  readonly fills: number
  readonly fees: string
  readonly funding: string
  readonly liquidations: number
  /** When and why trading ended before the prices did, a sentence each. */
  readonly restrictions: readonly string[]
}

export type TrialOutcome =
  /** `returns`: one per period, on the equity at its beginning. */
  | { readonly figures: TrialFigures; readonly returns: readonly number[] }
  | { readonly failed: string; readonly isTimeOut?: boolean }

/** A line of a sweep's log. */
export interface TrialRow {
  readonly id: string
  /** Id of the combination with configuration and code, for any range: one try. */
  readonly tried: string
  /** The prices of the trial. */
  readonly prices: string
  readonly params: ParamSet
  readonly from: string
  readonly to: string
  readonly outcome: TrialOutcome
}

/**
 * Names a trial by everything that its result depends on.
 * @param recipe The sweep's: configuration, data, code, seed.
 */
export function nameTrial(
  recipe: string,
  { params, fromAt, toAt }: Trial,
): { id: string; tried: string } {
  // Sorted, so that the order of keys in the file does not matter.
  const ordered = Object.entries(params).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const tried = sha256Hex([recipe, JSON.stringify(Object.fromEntries(ordered))])
  return {
    tried: tried.slice(0, 16),
    id: sha256Hex([tried, String(fromAt), String(toAt)]).slice(0, 12),
  }
}

/** The score of returns; higher is better. */
export function scoreOf(returns: readonly number[], objective: Objective): number {
  if (objective === 'sharpe') return sharpeOf(returns)
  return returns.reduce((equity, value) => equity * (1 + value), 1) - 1
}
