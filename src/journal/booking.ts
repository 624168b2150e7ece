/** Whose a fill is: a strategy's; not known yet (`waiting`); or, once that is certain, of no strategy here. */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/**
 * A fill with everything that people want to know of it. It is kept until it is archived, longer than its record. Trade
 * and order name it together: the two fills of a self-trade have one tradeId.
 */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty, like the strategy, where the fill is of no strategy. */
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
   * The profit that closing has realised by the exchange, at the average price of the account and not of the strategy, and
   * the fee; a negative fee was received. Empty: not known.
   */
  readonly profit: string
  readonly fee: string
  /** The coin of profit and fee. */
  readonly coin: string
  readonly scope: string
  /** Where the order came from, as the exchange says: `API`, `SYS`, or a person's client. */
  readonly source: string
  /** A `FillKind`; empty: kept by a version that did not tell the kinds apart. */
  readonly fillKind: string
  /**
   * Fees in other coins, as `BGB 0.011 at 4.2;BNB 0.2`: with what one was worth in the margin coin, where that was known.
   * Empty: none, or kept by a version without them.
   */
  readonly otherFees: string
}

/** Whose a booked fill turned out to be. */
export interface BookedOwner extends Pick<
  BookedFill,
  'tradeId' | 'orderId' | 'clientOid' | 'strategyId' | 'owner'
> {
  readonly kind: 'owner'
}

/** A funding payment, by the change of the position's counter. */
export interface BookedFunding {
  readonly kind: 'funding'
  /** Unique among all payments. */
  readonly id: string
  /** Unix ms, our clock, when it was read. */
  readonly at: number
  readonly symbol: string
  /** `long` or `short`. */
  readonly side: string
  /** As the exchange counts it: a negative amount was paid. */
  readonly amount: string
  readonly coin: string
}

/** What a record adds to the tables of fills and funding payments, or changes there. */
export type Booking = BookedFill | BookedFunding | BookedOwner

/** A row of those tables. */
export type BookedRow = BookedFill | BookedFunding

/** Unix ms: `since` is included, `until` is not. */
export interface BookingSpan {
  readonly since?: number
  readonly until?: number
}
