/**
 * The exchange's document has no balance, so a person enters what was moved. An entry is never
 * changed: another one takes it back.
 */
export interface Deposit {
  readonly id: string
  /** Unix ms, as the person says. */
  readonly movedAt: number
  readonly enteredAt: number
  /** Decimal; negative for a withdrawal. */
  readonly amount: string
  readonly coin: string
  /** The capital changes by the amount. */
  readonly isCapital: boolean
  readonly note: string
  readonly by: string
  /** A second command with this key enters nothing. */
  readonly key: string
  readonly corrects?: string
}

/** Older ones are forgotten; their sum stays part of the capital. */
export const DEPOSITS_MAX = 2000
