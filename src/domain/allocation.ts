import type { Holding, HoldingChange } from './position.ts'

/** The owner of what no order of ours explains. */
export const NOBODY = ''

/** Something that moved what the account holds of a symbol. */
export type Move =
  | {
      readonly kind: 'fill'
      /** A strategy, {@link NOBODY}, or an orderId that waits, behind a `~`. */
      readonly owner: string
      readonly change: HoldingChange
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
      readonly taken: readonly HoldingChange[]
    }

/** A symbol with fills that wait for their order. */
export interface UnsettledAllocation {
  /** Before the first of those fills. */
  readonly account: Holding
  readonly holdings: readonly (readonly [key: string, Holding])[]
  /** That fill and everything since: the moves of the symbol with numbers from the one to before the other. */
  readonly first: number
  readonly next: number
}
