import type { Fill } from './fill.ts'
import type { OwnTrades } from './own-trades.ts'
import type { Holding, HoldingChange } from './position.ts'

/** Owns lots that no order of ours explains. */
export const NOBODY = ''

export type Move =
  | {
      readonly kind: 'fill'
      /** A strategy, {@link NOBODY}, or `~` and the orderId of a fill that waits for its order. */
      readonly owner: string
      readonly change: HoldingChange
      /** Absent in books of earlier versions: the price is unknown. */
      readonly priced?: PricedFill
    }
  | {
      readonly kind: 'adopt'
      readonly holding: Holding
      /** Lots closed from outside our orders are taken from the strategies. */
      readonly taken: readonly HoldingChange[]
    }
  | {
      readonly kind: 'assign'
      readonly owner: string
      /** A strategy takes over what no strategy held; the account's position stays. */
      readonly taken: readonly TakenOver[]
    }
  /** After a release, trades lost in a row count from zero. */
  | { readonly kind: 'streakForgotten'; readonly strategyId: string }

export interface TakenOver extends HoldingChange {
  readonly ticks: number | undefined
}

export interface PricedFill {
  readonly fill: Fill
  /**
   * Booked profit less that of the price, margin coin. Undefined where our fills do not explain
   * what was held.
   */
  readonly beyondPrice?: number
}

export interface UnsettledAllocation {
  readonly account: Holding
  readonly holdings: readonly (readonly [key: string, Holding])[]
  /** Up to then. Absent in books of earlier versions. */
  readonly trades?: readonly (readonly [key: string, OwnTrades])[]
  /** The symbol's moves since that fill: from `first` up to, without, `next`. */
  readonly first: number
  readonly next: number
}
