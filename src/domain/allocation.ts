import type { Fill } from './fill.ts'
import type { OwnTrades } from './own-trades.ts'
import type { Holding, HoldingChange } from './position.ts'

/** The owner of what no order of ours explains. */
export const NOBODY = ''

/** Something that moved what the account holds of a symbol, or what a strategy has made of it. */
export type Move =
  | {
      readonly kind: 'fill'
      /** A strategy, {@link NOBODY}, or an orderId that waits, behind a `~`. */
      readonly owner: string
      readonly change: HoldingChange
      /** Absent in books of earlier versions: then nobody knows its price. */
      readonly priced?: PricedFill
    }
  | {
      readonly kind: 'adopt'
      /** What the exchange says. */
      readonly holding: Holding
      /** What of that somebody has closed. */
      readonly taken: readonly HoldingChange[]
    }
  | {
      readonly kind: 'assign'
      readonly owner: string
      /** What it takes over of what no strategy held: the account's position stays as it is. */
      readonly taken: readonly TakenOver[]
    }
  /** An operator has released a strategy: the trades that it lost in a row are counted anew. */
  | { readonly kind: 'streakForgotten'; readonly strategyId: string }

/** Lots that a strategy takes over. */
export interface TakenOver extends HoldingChange {
  /** What the account has paid for them, in ticks; undefined where nobody knows it. */
  readonly ticks: number | undefined
}

/** A fill as it moves what its owners have made. */
export interface PricedFill {
  readonly fill: Fill
  /**
   * By how much the profit that was booked for it differs from what its price has brought the account, margin coin; undefined
   * where our own fills do not explain what the account held.
   */
  readonly beyondPrice?: number
}

/** A symbol with fills that wait for their order. */
export interface UnsettledAllocation {
  /** Before the first of those fills. */
  readonly account: Holding
  readonly holdings: readonly (readonly [key: string, Holding])[]
  /** What each strategy had made until then. Absent in books of earlier versions. */
  readonly trades?: readonly (readonly [key: string, OwnTrades])[]
  /** That fill and everything since: the moves of the symbol with numbers from the one to before the other. */
  readonly first: number
  readonly next: number
}
