import { type UsedLoss } from '../../domain/loss-limits.ts'
import { type Holding } from '../../domain/position.ts'

/** What scopes have made, as far as it was judged in this run. Changed by `losses.ts`. */
export interface LossState {
  /** By symbol: what the account held when its position was last read. */
  readonly readHoldings: ReadonlyMap<string, Holding>
  /** By symbol: net profit when reading and book last agreed, margin coin. */
  readonly netBySymbol: ReadonlyMap<string, number>
  /** By scope: the highest net profit. The book has it up to a small rise. */
  readonly peaks: ReadonlyMap<string, number>
  readonly used: ReadonlyMap<string, UsedLoss>
  /** The scopes whose drawdown is beyond its first step. */
  readonly warned: ReadonlySet<string>
}
