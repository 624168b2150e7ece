/** `waiting`: not known yet; `nobody`: certainly no strategy here. */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/**
 * Outlives its record, until archived. Named by trade and order, because the two fills of a
 * self-trade share a tradeId.
 */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty, like the strategy, if it belongs to none. */
  readonly clientOid: string
  readonly strategyId: string
  readonly owner: FillOwner
  readonly symbol: string
  readonly side: string
  /** Without meaning in one-way mode. */
  readonly tradeSide: string
  /** Decimals, as are all amounts. */
  readonly price: string
  readonly size: string
  /**
   * As the exchange states it for a close, at the account's average price. Empty: not known. A
   * received fee is negative.
   */
  readonly profit: string
  readonly fee: string
  /** The coin of profit and fee. */
  readonly coin: string
  readonly scope: string
  /** The exchange's word: `API`, `SYS`, or a person's client. */
  readonly source: string
  /** A `FillKind`; empty: written by an earlier version. */
  readonly fillKind: string
  /**
   * `BGB 0.011 at 4.2;BNB 0.2`, with a coin's price in the margin coin if known. Empty also in rows
   * of an earlier version.
   */
  readonly otherFees: string
  /**
   * `flatten`, or the strategy's exit. Empty: a plain order, not ours, or a row of an earlier
   * version.
   */
  readonly reason: string
  /** The text that the strategy gave to its order; empty: none. */
  readonly tag: string
}

/** Found later. */
export interface BookedOwner extends Pick<
  BookedFill,
  'tradeId' | 'orderId' | 'clientOid' | 'strategyId' | 'owner' | 'reason' | 'tag'
> {
  readonly kind: 'owner'
}

/** Follows from the position's counter. */
export interface BookedFunding {
  readonly kind: 'funding'
  readonly id: string
  /** Our clock, at the reading. */
  readonly at: number
  readonly symbol: string
  /** `long` or `short`. */
  readonly side: string
  /** Negative: paid. */
  readonly amount: string
  readonly coin: string
}

export type Booking = BookedFill | BookedFunding | BookedOwner

export type BookedRow = BookedFill | BookedFunding

/** Unix ms: `since` is included, `until` is not. */
export interface BookingSpan {
  readonly since?: number
  readonly until?: number
}
