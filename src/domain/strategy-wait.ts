import type { PlotPoint } from './plot.ts'

/** Why a strategy wants nothing of an instrument yet, in its own words. */
export interface StrategyWait {
  readonly symbol: string
  readonly what: string
}

/** Longer texts are cut. */
export const WAIT_LENGTH_MAX = 120

/** A strategy shows these beside a decision, and no order depends on them. */
export interface DecisionNotes {
  /** Only plots that have changed; absent: none has. */
  readonly plots?: readonly PlotPoint[]
  /** All waits of the decision if they have changed; absent: they have not. */
  readonly waits?: readonly StrategyWait[]
}
