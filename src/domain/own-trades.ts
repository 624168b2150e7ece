export interface OwnFill {
  /** Exchange clock. */
  readonly at: number
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Margin coin; paid is positive. Other coins are included as far as their worth is known. */
  readonly fee?: string
  readonly profit?: string
  readonly isMaker: boolean
}

export interface Entry {
  readonly longLots: number
  readonly longTicks: number
  readonly shortLots: number
  readonly shortTicks: number
}

/** Lots that no fill explains are missing until their price is stated. */
export interface AccountEntry extends Entry {
  /** Confirmed by two readings. */
  readonly statedLongLots: number
  readonly statedShortLots: number
}

export function closesSide(lotsBefore: number, lotsAfter: number): boolean {
  return lotsBefore > 0 && lotsAfter === 0
}

export interface OwnTrades {
  readonly entry: Entry
  /**
   * At its own average prices, with all fees; the exchange's figure includes other strategies.
   * Absent in earlier books.
   */
  readonly profit?: string
  readonly fees?: string
  /** Exchange clock: the UTC day of the last fill. */
  readonly dayAt: number
  readonly dayProfit: string
  readonly dayFees: string
  /** Since last flat. Absent in books of earlier versions. */
  readonly tradeNet?: string
  readonly lostInRow?: number
  readonly fills: readonly OwnFill[]
}

export const OWN_FILLS_MAX = 50

/** Margin coin, when last read. */
export interface PositionMark {
  readonly markPrice: number
  /** Our own: entry against the last price inside bid and ask. NaN: not known. */
  readonly unrealised: number
  readonly margin: number
  readonly readAt: number
}
