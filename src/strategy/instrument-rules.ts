/** The constants of a contract, and conversions onto its grids. */
export interface InstrumentRules {
  readonly symbol: string
  /** Decimal strings: price step in quote coin, size step in base coin. */
  readonly tickSize: string
  readonly lotSize: string
  /** Smallest order. */
  readonly lotsMin: number
  /** The last tick at or below a price, and the first at or above it. */
  ticksBelow(price: number): number
  ticksAbove(price: number): number
  /** Price in quote coin, for arithmetic and display. */
  price(ticks: number): number
  /**
   * Converts an exact size such as `'0.01'`. @throws Failure if it is not a whole number of lots
   */
  lots(size: string): number
  /** The last lot at or below a computed size. */
  lotsBelow(size: number): number
  /** Size in base coin, for arithmetic and display. */
  size(lots: number): number
}
