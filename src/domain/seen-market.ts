/** The market of one instrument at the moment of a decision or a request. Prices in quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  /** How old the prices were, ms. */
  readonly ageMs: number
}
