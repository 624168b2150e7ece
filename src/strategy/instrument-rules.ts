export interface InstrumentRules {
  readonly symbol: string
  /** Decimal strings: price step in quote coin, size step in base coin. */
  readonly tickSize: string
  readonly lotSize: string
  readonly lotsMin: number
  /** Whole ticks at or below a price, and at or above it. */
  ticksBelow(price: number): number
  ticksAbove(price: number): number
  /** Quote coin, for arithmetic and display. */
  price(ticks: number): number
  /** An exact size such as `'0.01'`. @throws Failure if it is not a whole number of lots */
  lots(size: string): number
  lotsBelow(size: number): number
  /** Base coin, for arithmetic and display. */
  size(lots: number): number
}
