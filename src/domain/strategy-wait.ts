/** Why a strategy wants nothing of an instrument yet, in its own words. */
export interface StrategyWait {
  readonly symbol: string
  readonly what: string
}

/** Longer texts are cut. */
export const WAIT_LENGTH_MAX = 120
