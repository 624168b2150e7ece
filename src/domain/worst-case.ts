import type { StrategyId } from './ids.ts'
import type { WitnessTimes } from './loss-limits.ts'
import type { HoldSide } from './position.ts'
import type { ModeReason } from './trading-mode.ts'

/** `risk.survives`. Moves are shares of the price, keyed by symbol. */
export interface SurvivalSettings {
  readonly moves: ReadonlyMap<string, number>
  /** Moves of all instruments against us at once. */
  readonly jointMoves: ReadonlyMap<string, number>
  /** Resting orders fill at the current price, and lose the whole move. */
  readonly isGap: boolean
}

export type MoveDirection = 'down' | 'up'

export type Scenario =
  | {
      readonly kind: 'single'
      readonly symbol: string
      readonly direction: MoveDirection
      readonly move: number
    }
  | { readonly kind: 'joint' }

export interface WorstCase {
  readonly scenario: Scenario
  /** The loss with fees, the next funding, and the margin that is needed after the move. */
  readonly need: number
  readonly equity: number
  readonly used: number
}

export const WORST_CASE_WARN = 0.8

export interface WorstCaseState {
  /** Measured by the worse figures; undefined: unknown or not needed. */
  readonly last: WorstCase | undefined
  readonly equity: number | undefined
  readonly isWarned: boolean
  /** Set while other answers have to confirm that the budget is exceeded. */
  readonly awaited: WitnessTimes | undefined
}

export interface Reduction {
  readonly code: ModeReason
  readonly holdSide: HoldSide
  /** Lots that stay; strategies that are absent keep all. */
  readonly keeps: ReadonlyMap<StrategyId, number>
  readonly adopts: boolean
  readonly reason: string
}
