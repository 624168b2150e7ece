/** Not known yet (`waiting`); or, once that is certain, no strategy here. */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/**
 * Kept until it is archived, longer than its record. Trade and order name it together: the two
 * fills of a self-trade have one tradeId.
 */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty, like the strategy, if it belongs to no strategy. */
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
   * As the exchange states it for a close, at the account's average price; and the fee, negative if
   * received. Empty: not known.
   */
  readonly profit: string
  readonly fee: string
  /** The coin of profit and fee. */
  readonly coin: string
  readonly scope: string
  /** As the exchange states it: `API`, `SYS`, or a client of a person. */
  readonly source: string
  /** A `FillKind`; empty: written by an earlier version. */
  readonly fillKind: string
  /**
   * `BGB 0.011 at 4.2;BNB 0.2`, with the price of a coin in the margin coin if known. Empty: none,
   * or an earlier version.
   */
  readonly otherFees: string
}

/** Found later. */
export interface BookedOwner extends Pick<
  BookedFill,
  'tradeId' | 'orderId' | 'clientOid' | 'strategyId' | 'owner'
> {
  readonly kind: 'owner'
}

/** From the change of the position's counter. */
export interface BookedFunding {
  readonly kind: 'funding'
  readonly id: string
  /** Our clock, when it was read. */
  readonly at: number
  readonly symbol: string
  /** `long` or `short`. */
  readonly side: string
  /** Negative: paid. */
  readonly amount: string
  readonly coin: string
}

/** A row that a record adds or changes. */
export type Booking = BookedFill | BookedFunding | BookedOwner

export type BookedRow = BookedFill | BookedFunding

/** Unix ms: `since` is included, `until` is not. */
export interface BookingSpan {
  readonly since?: number
  readonly until?: number
}
