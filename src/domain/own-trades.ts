export interface OwnFill {
  /** Exchange clock. */
  readonly at: number
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Margin coin, positive if paid, with other coins as far as their worth is known. */
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

/** Lots that no fill explains count only once the exchange has stated their price. */
export interface AccountEntry extends Entry {
  /** Lots whose price only the exchange knows; two readings have stated it. */
  readonly statedLongLots: number
  readonly statedShortLots: number
}

export function closesSide(lotsBefore: number, lotsAfter: number): boolean {
  return lotsBefore > 0 && lotsAfter === 0
}

export interface OwnTrades {
  readonly entry: Entry
  /** Counted at the strategy's own average prices. Absent in books of earlier versions. */
  readonly profit?: string
  readonly fees?: string
  /** The UTC day of the last fill; exchange clock. */
  readonly dayAt: number
  readonly dayProfit: string
  readonly dayFees: string
  /** Since the strategy was last flat. Absent in books of earlier versions. */
  readonly tradeNet?: string
  readonly lostInRow?: number
  readonly fills: readonly OwnFill[]
}

export const OWN_FILLS_MAX = 50

/** As last read, margin coin. */
export interface PositionMark {
  readonly markPrice: number
  /** Our own count; NaN: not known. */
  readonly unrealised: number
  readonly margin: number
  readonly readAt: number
}
