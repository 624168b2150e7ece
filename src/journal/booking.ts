/** A fill is `waiting` until its order is known, and `nobody`'s when no strategy here placed it. */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/** A fill is kept until it is archived, longer than its record. */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty if the fill belongs to no strategy. */
  readonly clientOid: string
  readonly strategyId: string
  readonly owner: FillOwner
  readonly symbol: string
  readonly side: string
  readonly tradeSide: string
  /** This and all other amounts are decimals. */
  readonly price: string
  readonly size: string
  /**
   * The exchange states the profit of a close, at the account's average price. Empty: not known.
   */
  readonly profit: string
  /** Negative when received. */
  readonly fee: string
  readonly coin: string
  readonly scope: string
  /** The exchange's word: `API`, `SYS`, or the name of a person's client. */
  readonly source: string
  /** A `FillKind`, empty in rows of an earlier version. */
  readonly fillKind: string
  /** `BGB 0.011 at 4.2;BNB 0.2`, with a coin's price in the margin coin if it is known. */
  readonly otherFees: string
  /**
   * `flatten` or the strategy's exit; empty for a plain order and in rows of an earlier version.
   */
  readonly reason: string
  readonly tag: string
}

export interface BookedOwner extends Pick<
  BookedFill,
  'tradeId' | 'orderId' | 'clientOid' | 'strategyId' | 'owner' | 'reason' | 'tag'
> {
  readonly kind: 'owner'
}

export interface BookedFunding {
  readonly kind: 'funding'
  readonly id: string
  /** Unix ms, our clock, at the reading. */
  readonly at: number
  readonly symbol: string
  readonly side: string
  /** Negative when paid. */
  readonly amount: string
  readonly coin: string
}

export type Booking = BookedFill | BookedFunding | BookedOwner

export type BookedRow = BookedFill | BookedFunding

export interface BookingSpan {
  readonly since?: number | undefined
  readonly until?: number | undefined
}
