import type { StrategyId } from './ids.ts'
import type { AnswerTimes } from './loss-limits.ts'
import type { HoldSide } from './position.ts'
import type { ModeReason } from './trading-mode.ts'

/** `risk.survives`: shares of the price, by symbol. */
export interface SurvivalSettings {
  readonly moves: ReadonlyMap<string, number>
  /** All instruments move at once, each against us. */
  readonly jointMoves: ReadonlyMap<string, number>
  /** Resting orders count as filled at the current price, and lose the whole move. */
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
  /**
   * Margin coin: the loss with its fees, the next funding, and the margin needed after the move.
   */
  readonly need: number
  readonly equity: number
  readonly used: number
}

/** Share of the budget that warns; a need beyond the budget is reduced to it. */
export const WORST_CASE_WARN = 0.8

/** Changed only by `engine/state/worst-case.ts`. */
export interface WorstCaseState {
  /** Counted by the worse figures; undefined: not known, or no move must be survived. */
  readonly last: WorstCase | undefined
  readonly equity: number | undefined
  readonly isWarned: boolean
  /** These answers have exceeded the budget once: others have to confirm it. */
  readonly awaited: AnswerTimes | undefined
}

/** The daemon itself closes a part. Changed only by `engine/state/trading-mode.ts`. */
export interface Reduction {
  readonly code: ModeReason
  readonly holdSide: HoldSide
  /** Lots by strategy that stay on that side; absent: everything stays. */
  readonly keeps: ReadonlyMap<StrategyId, number>
  readonly adopts: boolean
  readonly reason: string
}
