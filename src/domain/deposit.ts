/**
 * Money that was moved to or from the account from outside. The exchange's document has no balance, so a
 * person enters it. An entry is never changed: another one takes it back.
 */
export interface Deposit {
  /** Counts the entries of an account: `1`, `2`, and so on. */
  readonly id: string
  /** When the money was moved, as the person says; Unix ms. */
  readonly movedAt: number
  /** When it was entered; Unix ms, our clock. */
  readonly enteredAt: number
  /** Decimal; negative: withdrawn. */
  readonly amount: string
  readonly coin: string
  /** It is of the margin coin, so that the capital changes by as much. */
  readonly isCapital: boolean
  readonly note: string
  readonly by: string
  /** The command's name: given again, it enters nothing. */
  readonly key: string
  /** The entry that it takes back. */
  readonly corrects?: string
}

/** The oldest are forgotten first; what they have come to stays part of the capital. */
export const DEPOSITS_MAX = 2000
