/** Quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  readonly ageMs: number
}
