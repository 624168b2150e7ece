/** What never changes in a contract, and the tools that lead onto its grids. */
export interface InstrumentRules {
  readonly symbol: string
  /** Decimal strings: the price step in quote coin and the size step in base coin. */
  readonly tickSize: string
  readonly lotSize: string
  /** Smallest order, in lots. */
  readonly lotsMin: number
  /** The last tick at or below a price, the first at or above it. */
  ticksBelow(price: number): number
  ticksAbove(price: number): number
  /** Ticks as a price in quote coin, for arithmetic and display. */
  price(ticks: number): number
  /** An exact size such as `'0.01'` in lots. @throws Failure when it is not a whole number of lots. */
  lots(size: string): number
  /** The last lot at or below a computed size. */
  lotsBelow(size: number): number
  /** Lots as a size in base coin, for arithmetic and display. */
  size(lots: number): number
}
