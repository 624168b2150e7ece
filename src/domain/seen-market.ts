/** The market of one instrument as it was looked at when something was decided or sent. Prices in quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  /** How old the prices were, ms. */
  readonly ageMs: number
}
