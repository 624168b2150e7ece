/**
 * The exchange's document has no balance, so a person enters what was moved. An entry is never
 * changed: another one takes it back.
 */
export interface Deposit {
  readonly id: string
  /** As the person says; Unix ms. */
  readonly movedAt: number
  /** Unix ms, our clock. */
  readonly enteredAt: number
  /** Decimal; negative: withdrawn. */
  readonly amount: string
  readonly coin: string
  /** The capital changes by as much. */
  readonly isCapital: boolean
  readonly note: string
  readonly by: string
  /** A command given again enters nothing. */
  readonly key: string
  readonly corrects?: string
}

/** The sum of forgotten ones stays part of the capital. */
export const DEPOSITS_MAX = 2000
