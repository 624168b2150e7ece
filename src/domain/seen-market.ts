/** The market that a record was decided on; quote coin. */
export interface SeenMarket {
  readonly bid: number
  readonly ask: number
  readonly ageMs: number
}
