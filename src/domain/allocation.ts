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
      /**
       * The strategy takes over a part of what no strategy held. The account's position stays as it
       * is.
       */
      readonly taken: readonly TakenOver[]
    }
  /** A release counts the strategy's trades lost in a row from zero again. */
  | { readonly kind: 'streakForgotten'; readonly strategyId: string }

export interface TakenOver extends HoldingChange {
  readonly ticks: number | undefined
}

export interface PricedFill {
  readonly fill: Fill
  /**
   * Booked profit less the profit that follows from the fill's price, margin coin. Undefined where
   * our own fills do not explain what the account held.
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
