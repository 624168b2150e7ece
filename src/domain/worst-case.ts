import type { StrategyId } from './ids.ts'
import type { AnswerTimes } from './loss-limits.ts'
import type { HoldSide } from './position.ts'
import type { ModeReason } from './trading-mode.ts'

/** `risk.survives`: shares of the price, by symbol. */
export interface SurvivalSettings {
  readonly moves: ReadonlyMap<string, number>
  /** All instruments move at once, each against us. */
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
  /** Margin coin: loss with fees, next funding, and the margin needed after the move. */
  readonly need: number
  readonly equity: number
  readonly used: number
}

/** Share of the budget that warns; a need beyond the budget is reduced to it. */
export const WORST_CASE_WARN = 0.8

/** Only `engine/state/worst-case.ts` changes it. */
export interface WorstCaseState {
  /** Counted by the worse figures; undefined: unknown, or no move must be survived. */
  readonly last: WorstCase | undefined
  readonly equity: number | undefined
  readonly isWarned: boolean
  /** These answers have exceeded the budget once: others have to confirm it. */
  readonly awaited: AnswerTimes | undefined
}

/** The daemon closes a part. Only `engine/state/trading-mode.ts` changes it. */
export interface Reduction {
  readonly code: ModeReason
  readonly holdSide: HoldSide
  /** Lots by strategy that stay; absent: everything stays. */
  readonly keeps: ReadonlyMap<StrategyId, number>
  readonly adopts: boolean
  readonly reason: string
}
