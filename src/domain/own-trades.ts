/** One fill of a strategy's own order. Fills are kept in the order in which they became known. */
export interface OwnFill {
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /**
   * Decimal strings in the margin coin; a positive fee was paid. The fee includes fees in other
   * coins as far as they are known.
   */
  readonly fee?: string
  /** Absent, like the fee: not known. */
  readonly profit?: string
  readonly isMaker: boolean
}

/**
 * The entry of a strategy's own fills on one instrument: lots and their average prices in ticks.
 */
export interface Entry {
  readonly longLots: number
  readonly longTicks: number
  readonly shortLots: number
  readonly shortTicks: number
}

/**
 * The entry of the account on one instrument, by the price of every fill, of our orders or not.
 * Lots that no fill explains (an adopted position) are missing until their price is stated.
 */
export interface AccountEntry extends Entry {
  /** Lots whose price is the exchange's average entry price, confirmed by two readings. */
  readonly statedLongLots: number
  readonly statedShortLots: number
}

/** Whether a change has closed a side of a position: with it a trade on that side is over. */
export function closesSide(lotsBefore: number, lotsAfter: number): boolean {
  return lotsBefore > 0 && lotsAfter === 0
}

/** The trades of a strategy on one instrument. */
export interface OwnTrades {
  readonly entry: Entry
  /**
   * Profit of closing its own lots at its own average prices, and the fees of closing and opening;
   * decimal strings in the margin coin. The exchange states a profit at the account's average,
   * which includes other strategies. Absent in books of earlier versions, which have only that.
   */
  readonly profit?: string
  readonly fees?: string
  /**
   * Unix ms, exchange clock: the UTC day of the last fill, and the profit and fees of that day's
   * fills; decimal strings.
   */
  readonly dayAt: number
  readonly dayProfit: string
  readonly dayFees: string
  /**
   * Realised profit less fees since the position was last flat; a decimal string. Absent in books
   * of earlier versions.
   */
  readonly tradeNet?: string
  /** Losing trades in a row, each from flat to flat. */
  readonly lostInRow?: number
  /** The last fills, the newest last. */
  readonly fills: readonly OwnFill[]
}

/** How many fills a strategy is shown per instrument. */
export const OWN_FILLS_MAX = 50

/** The exchange's valuation of a position when it was last read. Money in the margin coin. */
export interface PositionMark {
  /** NaN while nothing is held. */
  readonly markPrice: number
  /**
   * Our own figure: the entry price against the last price inside bid and ask. NaN while it is not
   * known.
   */
  readonly unrealised: number
  /** NaN if it is not stated. */
  readonly margin: number
  /** Unix ms, our clock, when it was requested. */
  readonly readAt: number
}
