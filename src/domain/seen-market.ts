/** At the moment of a decision or a request. Prices in quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  readonly ageMs: number
}
