/**
 * The kind of a fill's owner: a strategy; not known yet (`waiting`); or, once that is certain, no
 * strategy here.
 */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/**
 * A fill with all its figures. It is kept until it is archived, longer than its record. Trade and
 * order name it together: the two fills of a self-trade have one tradeId.
 */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty, like the strategy, if the fill belongs to no strategy. */
  readonly clientOid: string
  readonly strategyId: string
  readonly owner: FillOwner
  readonly symbol: string
  readonly side: string
  /** `open` or `close`; without meaning in one-way mode. */
  readonly tradeSide: string
  /** Decimals, as are all amounts. */
  readonly price: string
  readonly size: string
  /**
   * The profit that the exchange states for a close, at the average price of the account and not of
   * the strategy, and the fee; a negative fee was received. Empty: not known.
   */
  readonly profit: string
  readonly fee: string
  /** The coin of profit and fee. */
  readonly coin: string
  readonly scope: string
  /** The source of the order that the exchange states: `API`, `SYS`, or a client of a person. */
  readonly source: string
  /** A `FillKind`; empty: written by a version that did not distinguish the kinds. */
  readonly fillKind: string
  /**
   * Fees in other coins, as `BGB 0.011 at 4.2;BNB 0.2`, with the price of a coin in the margin coin
   * if that was known. Empty: none, or written by a version without them.
   */
  readonly otherFees: string
  /**
   * Why its order closed something: `flatten`, or the exit of the strategy. Empty: a plain order,
   * none of ours, or written by a version that did not note it.
   */
  readonly reason: string
  /** The text that the strategy gave to its order; empty: none. */
  readonly tag: string
}

/** The owner of a booked fill, found later. */
export interface BookedOwner extends Pick<
  BookedFill,
  'tradeId' | 'orderId' | 'clientOid' | 'strategyId' | 'owner' | 'reason' | 'tag'
> {
  readonly kind: 'owner'
}

/** A funding payment, from the change of the position's counter. */
export interface BookedFunding {
  readonly kind: 'funding'
  /** Unique among all payments. */
  readonly id: string
  /** Unix ms, our clock, when it was read. */
  readonly at: number
  readonly symbol: string
  /** `long` or `short`. */
  readonly side: string
  /** The exchange's sign: a negative amount was paid. */
  readonly amount: string
  readonly coin: string
}

/** A row that a record adds to the tables of fills and funding payments, or changes there. */
export type Booking = BookedFill | BookedFunding | BookedOwner

/** A row of those tables. */
export type BookedRow = BookedFill | BookedFunding

/** Unix ms: `since` is included, `until` is not. */
export interface BookingSpan {
  readonly since?: number
  readonly until?: number
}
