import type { StrategyId } from './ids.ts'
import type { HoldSide } from './position.ts'
import type { ModeReason } from './trading-mode.ts'

/** The moves of the market that an account must survive (`risk.survives`): shares of the price, by symbol. */
export interface SurvivalSettings {
  /** One instrument moves alone. */
  readonly moves: ReadonlyMap<string, number>
  /** All move at once, each against us. */
  readonly jointMoves: ReadonlyMap<string, number>
  /** Whether nothing is filled on the way: orders that rest count as filled at the price now, and lose the whole move. */
  readonly isGap: boolean
}

export type MoveDirection = 'down' | 'up'

/** An instrument that moves alone, or all at once. */
export type Scenario =
  | {
      readonly kind: 'single'
      readonly symbol: string
      readonly direction: MoveDirection
      readonly move: number
    }
  | { readonly kind: 'joint' }

/** The scenario that takes most, in the margin coin. */
export interface WorstCase {
  readonly scenario: Scenario
  /** The loss with its fees, the next funding, and what is needed there as margin. */
  readonly need: number
  /** The equity that it is compared with. */
  readonly equity: number
  /** Need over equity; infinite where that is nothing. */
  readonly used: number
}

/** From this share of the budget on it is warned, and what was beyond the budget is reduced down to it. */
export const WORST_CASE_WARN = 0.8

/** The state of the worst case in this run. Changed by `engine/state/worst-case.ts`. */
export interface WorstCaseState {
  /** When a position was last compared, by the worse figures; undefined: not known, or no move must be survived. */
  readonly last: WorstCase | undefined
  /** The equity then, in the margin coin: approvals count from there. */
  readonly equity: number | undefined
  readonly isWarned: boolean
  /** The answers that have said once that the budget is exceeded: others have to say so too. */
  readonly awaited: { readonly positionAt: number; readonly tickersAt: number } | undefined
}

/** A part of what is held of an instrument that the daemon itself closes. Changed by `engine/state/trading-mode.ts`. */
export interface Reduction {
  readonly code: ModeReason
  readonly holdSide: HoldSide
  /** In lots, by strategy: what it keeps on that side. Strategies that keep all are absent. */
  readonly keeps: ReadonlyMap<StrategyId, number>
  /** Whether strategies must first take over what none of them holds. */
  readonly adopts: boolean
  readonly reason: string
}
