import type { Fill } from './fill.ts'
import type { OwnTrades } from './own-trades.ts'
import type { Holding, HoldingChange } from './position.ts'

/** The owner of lots that no order of ours explains. */
export const NOBODY = ''

export type Move =
  | {
      readonly kind: 'fill'
      /** A strategy, {@link NOBODY}, or `~` and the orderId of a fill that waits for its order. */
      readonly owner: string
      readonly change: HoldingChange
      /** Absent in books of earlier versions. */
      readonly priced?: PricedFill
    }
  | {
      readonly kind: 'adopt'
      readonly holding: Holding
      readonly taken: readonly HoldingChange[]
    }
  | {
      readonly kind: 'assign'
      readonly owner: string
      readonly taken: readonly TakenOver[]
    }
  | { readonly kind: 'streakForgotten'; readonly strategyId: string }

export interface TakenOver extends HoldingChange {
  readonly ticks: number | undefined
}

export interface PricedFill {
  readonly fill: Fill
  /**
   * Booked profit less that of the price, margin coin; undefined where our fills do not explain
   * what was held.
   */
  readonly beyondPrice?: number
}

export interface UnsettledAllocation {
  readonly account: Holding
  readonly holdings: readonly (readonly [key: string, Holding])[]
  /** Absent in books of earlier versions. */
  readonly trades?: readonly (readonly [key: string, OwnTrades])[]
  /** The number of the first move since then; `next` is the one after the last. */
  readonly first: number
  readonly next: number
}
