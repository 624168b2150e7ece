export interface OwnFill {
  /** Exchange clock. */
  readonly at: number
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /**
   * Decimal strings in the margin coin; a positive fee was paid. It includes fees in other coins as
   * far as their worth is known.
   */
  readonly fee?: string
  /** Absent, like the fee: not known. */
  readonly profit?: string
  readonly isMaker: boolean
}

export interface Entry {
  readonly longLots: number
  readonly longTicks: number
  readonly shortLots: number
  readonly shortTicks: number
}

/**
 * Every fill counts, of our orders or not. Lots that no fill explains (an adopted position) are
 * missing until their price is stated.
 */
export interface AccountEntry extends Entry {
  /** Lots whose price is the exchange's average entry price, confirmed by two readings. */
  readonly statedLongLots: number
  readonly statedShortLots: number
}

export function closesSide(lotsBefore: number, lotsAfter: number): boolean {
  return lotsBefore > 0 && lotsAfter === 0
}

export interface OwnTrades {
  readonly entry: Entry
  /**
   * At its own average prices, with the fees of closing and opening; decimal strings in the margin
   * coin. The exchange states a profit at the account's average, which includes other strategies.
   * Absent in books of earlier versions, which have only that.
   */
  readonly profit?: string
  readonly fees?: string
  /** Exchange clock: the UTC day of the last fill, and the profit and fees of that day's fills. */
  readonly dayAt: number
  readonly dayProfit: string
  readonly dayFees: string
  /** Since the position was last flat. Absent in books of earlier versions. */
  readonly tradeNet?: string
  readonly lostInRow?: number
  readonly fills: readonly OwnFill[]
}

export const OWN_FILLS_MAX = 50

/** The exchange's valuation when last read. Money in the margin coin. */
export interface PositionMark {
  readonly markPrice: number
  /**
   * Our own figure: the entry price against the last price inside bid and ask. NaN while it is not
   * known.
   */
  readonly unrealised: number
  readonly margin: number
  readonly readAt: number
}
