import type { Fill } from './fill.ts'
import type { OrderTerms } from './order.ts'
import type { OwnTrades } from './own-trades.ts'
import type {
  Holding,
  HoldingChange,
  HoldSide,
  KeptExits,
  ListedExit,
  OrderedBySide,
} from './position.ts'

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
      /** Absent: its order has none, or is not known yet. */
      readonly exits?: ExitTerms
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
  | {
      readonly kind: 'exitsListed'
      readonly holdSide: HoldSide
      readonly listed: readonly ListedExit[]
    }

/** The take-profit and stop-loss of an order. */
export type ExitTerms = Pick<
  OrderTerms,
  'clientOid' | 'strategyId' | 'action' | 'takeProfitTicks' | 'stopLossTicks'
>

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
  /** Here and below: absent in books of earlier versions. */
  readonly exits?: readonly (readonly [key: string, KeptExits])[]
  readonly orderedExits?: readonly (readonly [key: string, OrderedBySide])[]
  /** The number of the first move since then; `next` is the one after the last. */
  readonly first: number
  readonly next: number
}
