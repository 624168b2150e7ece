import type { StrategyId } from './ids.ts'
import type { HoldSide } from './position.ts'
import type { ModeReason } from './trading-mode.ts'

/**
 * The market moves that an account must survive (`risk.survives`): shares of the price, by symbol.
 */
export interface SurvivalSettings {
  /** Moves of one instrument alone. */
  readonly moves: ReadonlyMap<string, number>
  /** Moves of all instruments at once, each against us. */
  readonly jointMoves: ReadonlyMap<string, number>
  /**
   * Whether the market gaps: resting orders count as filled at the current price, and lose the
   * whole move.
   */
  readonly isGap: boolean
}

export type MoveDirection = 'down' | 'up'

/** One instrument moves alone, or all move at once. */
export type Scenario =
  | {
      readonly kind: 'single'
      readonly symbol: string
      readonly direction: MoveDirection
      readonly move: number
    }
  | { readonly kind: 'joint' }

/** The scenario with the largest need, in the margin coin. */
export interface WorstCase {
  readonly scenario: Scenario
  /** The loss with its fees, the next funding, and the margin needed after the move. */
  readonly need: number
  /** The equity that it is compared with. */
  readonly equity: number
  /** Need over equity; infinite if the equity is zero or less. */
  readonly used: number
}

/**
 * From this share of the budget on there is a warning; a need beyond the budget is reduced to it.
 */
export const WORST_CASE_WARN = 0.8

/** The worst case in this run. Changed only by `engine/state/worst-case.ts`. */
export interface WorstCaseState {
  /**
   * The last comparison of a position, by the worse figures; undefined: not known, or no move must
   * be survived.
   */
  readonly last: WorstCase | undefined
  /** The equity at that time, in the margin coin: approvals count from it. */
  readonly equity: number | undefined
  readonly isWarned: boolean
  /** The answers that have exceeded the budget once: other answers have to confirm it. */
  readonly awaited: { readonly positionAt: number; readonly tickersAt: number } | undefined
}

/**
 * A part of an instrument's position that the daemon itself closes. Changed only by
 * `engine/state/trading-mode.ts`.
 */
export interface Reduction {
  readonly code: ModeReason
  readonly holdSide: HoldSide
  /**
   * In lots, by strategy: the size it keeps on that side. Strategies that keep everything are
   * absent.
   */
  readonly keeps: ReadonlyMap<StrategyId, number>
  /** Whether strategies must first take over the lots that no strategy holds. */
  readonly adopts: boolean
  readonly reason: string
}
