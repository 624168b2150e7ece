/** Whose a fill is: of a strategy's order; not known yet; or of nobody here, which is said once it is certain. */
export type FillOwner = 'strategy' | 'waiting' | 'nobody'

/** A fill, with everything that a person wants of it: kept until it is archived, whatever becomes of its record. */
export interface BookedFill {
  readonly kind: 'fill'
  readonly tradeId: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly orderId: string
  /** Empty, as the strategy, where the fill is no strategy's. */
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
  /** What closing has realised, and what was paid for it; negative when received. */
  readonly profit: string
  readonly fee: string
  /** Of profit and fee. */
  readonly coin: string
  readonly scope: string
  /** Who made the order, in the exchange's word: `API`, `SYS`, or a person's. */
  readonly source: string
}

/** Whose a booked fill turned out to be. */
export interface BookedOwner extends Pick<BookedFill, 'tradeId' | 'clientOid' | 'strategyId' | 'owner'> {
  readonly kind: 'owner'
}

/** A funding payment, as the counter of the position tells of it. */
export interface BookedFunding {
  readonly kind: 'funding'
  /** Names it among all. */
  readonly id: string
  /** Unix ms, our clock, when it was read. */
  readonly at: number
  readonly symbol: string
  /** `long` or `short`. */
  readonly side: string
  /** As the exchange counts it: negative is paid. */
  readonly amount: string
  readonly coin: string
}

/** What a record adds to the tables of fills and of funding payments, or changes there. */
export type Booking = BookedFill | BookedFunding | BookedOwner

/** A row of those tables. */
export type BookedRow = BookedFill | BookedFunding

/** Unix ms: from the one, to before the other. */
export interface BookingSpan {
  readonly since?: number
  readonly until?: number
}
