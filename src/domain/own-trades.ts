/** One fill of a strategy's own order, in the order in which they became known. */
export interface OwnFill {
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Decimal strings in the margin coin; a positive fee was paid. The fee has what is known of fees in other coins. */
  readonly fee?: string
  /** Absent, as the fee: not known. */
  readonly profit?: string
  readonly isMaker: boolean
}

/** What a strategy's own fills have built up on one instrument: average prices in ticks, of so many lots. */
export interface Entry {
  readonly longLots: number
  readonly longTicks: number
  readonly shortLots: number
  readonly shortTicks: number
}

/**
 * What the account paid for what it holds of one instrument, by the price of every fill, whoever's it was. Lots that no
 * fill explains (a position that was adopted) are missing in it, until their price is stated.
 */
export interface AccountEntry extends Entry {
  /** Lots whose price is the exchange's average entry price, in which two readings agreed. */
  readonly statedLongLots: number
  readonly statedShortLots: number
}

/** What a strategy has traded on one instrument. */
export interface OwnTrades {
  readonly entry: Entry
  /**
   * What closing its own lots has brought, at its own average prices, and what that and opening them has cost; decimal strings
   * in the margin coin. The exchange states a profit at the average of the account, in which other strategies have a part.
   * Absent in books of earlier versions, where nothing but that is known.
   */
  readonly profit?: string
  readonly fees?: string
  /** Unix ms, exchange clock: the UTC day of the last fill, and what its fills have realised and cost; decimal strings. */
  readonly dayAt: number
  readonly dayProfit: string
  readonly dayFees: string
  /** Realised less fees since nothing was held; a decimal string. Absent in books of earlier versions. */
  readonly tradeNet?: string
  /** Trades in a row, each from flat to flat, that lost. */
  readonly lostInRow?: number
  /** The last of them, the newest last. */
  readonly fills: readonly OwnFill[]
}

/** Fills that are shown of each instrument. */
export const OWN_FILLS_MAX = 50

/** What the exchange said of a position when it was last read. Money in the margin coin. */
export interface PositionMark {
  /** NaN while nothing is held. */
  readonly markPrice: number
  /** Our own figure: what was paid, against the last price inside bid and ask. NaN while it is not known. */
  readonly unrealised: number
  /** NaN where the exchange does not say it. */
  readonly margin: number
  /** Unix ms, our clock, when it was asked for. */
  readonly readAt: number
}
