import type { Fill } from './fill.ts'
import type { OwnTrades } from './own-trades.ts'
import type { Holding, HoldingChange } from './position.ts'

/** The owner of lots that no order of ours explains. */
export const NOBODY = ''

/** Something that changed what the account holds of a symbol, or what a strategy has traded. */
export type Move =
  | {
      readonly kind: 'fill'
      /** A strategy, {@link NOBODY}, or `~` and the orderId of a fill that waits for its order. */
      readonly owner: string
      readonly change: HoldingChange
      /** Absent in books of earlier versions: the price is then unknown. */
      readonly priced?: PricedFill
    }
  | {
      readonly kind: 'adopt'
      /** The holding that the exchange states. */
      readonly holding: Holding
      /** The lots that were closed from outside our orders, to be taken from the strategies. */
      readonly taken: readonly HoldingChange[]
    }
  | {
      readonly kind: 'assign'
      readonly owner: string
      /**
       * The part that the strategy takes over of what no strategy held. The account's position
       * stays as it is.
       */
      readonly taken: readonly TakenOver[]
    }
  /** An operator has released a strategy: its trades lost in a row are counted from zero again. */
  | { readonly kind: 'streakForgotten'; readonly strategyId: string }

/** Lots that a strategy takes over. */
export interface TakenOver extends HoldingChange {
  /** The price that the account has paid for them, in ticks; undefined where it is not known. */
  readonly ticks: number | undefined
}

/** A fill, as it changes the trades of its owners. */
export interface PricedFill {
  readonly fill: Fill
  /**
   * Booked profit less the profit that follows from the fill's price, margin coin. Undefined where
   * our own fills do not explain what the account held.
   */
  readonly beyondPrice?: number
}

/** A symbol with fills that wait for their order. */
export interface UnsettledAllocation {
  /** The account's holding before the first of those fills. */
  readonly account: Holding
  readonly holdings: readonly (readonly [key: string, Holding])[]
  /** Each strategy's trades up to then. Absent in books of earlier versions. */
  readonly trades?: readonly (readonly [key: string, OwnTrades])[]
  /** Numbers of the symbol's moves since that fill: from `first` up to, without, `next`. */
  readonly first: number
  readonly next: number
}
