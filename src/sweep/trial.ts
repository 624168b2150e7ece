import { sha256Hex } from '../lib/digest.ts'
import type { ParamSet } from './param-sets.ts'
import { sharpeOf } from './statistics.ts'
import type { Objective } from './sweep-file.ts'

/** Unix ms; `toAt` is excluded. */
export interface Trial {
  readonly params: ParamSet
  readonly fromAt: number
  readonly toAt: number
}

/** Money in the margin coin, shares 0 to 1. */
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
  readonly restrictions: readonly string[]
}

export type TrialOutcome =
  | { readonly figures: TrialFigures; readonly returns: readonly number[] }
  | { readonly failed: string; readonly isTimeOut?: boolean }

export interface TrialRow {
  readonly id: string
  /** Names the combination with configuration and code, for any range. It counts as one try. */
  readonly tried: string
  readonly prices: string
  readonly params: ParamSet
  readonly from: string
  readonly to: string
  readonly outcome: TrialOutcome
}

/** @param recipe the sweep's configuration, data, code and seed */
export function nameTrial(
  recipe: string,
  { params, fromAt, toAt }: Trial,
): { id: string; tried: string } {
  // The order of keys in the file must not matter.
  const ordered = Object.entries(params).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const tried = sha256Hex([recipe, JSON.stringify(Object.fromEntries(ordered))])
  return {
    tried: tried.slice(0, 16),
    id: sha256Hex([tried, String(fromAt), String(toAt)]).slice(0, 12),
  }
}

export function scoreOf(returns: readonly number[], objective: Objective): number {
  if (objective === 'sharpe') return sharpeOf(returns)
  return returns.reduce((equity, value) => equity * (1 + value), 1) - 1
}
