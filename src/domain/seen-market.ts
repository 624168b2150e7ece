/** At a decision or a request. Quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  readonly ageMs: number
}
