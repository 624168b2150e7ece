import type { Holding } from './position.ts'
import type { Scope } from './trading-mode.ts'

/** What may be lost in a scope; what is absent is not limited. Amounts in the margin coin, above zero. */
export interface LossLimits {
  /** Below the net profit with which the day began. */
  readonly daily?: number
  /** Below the peak: of the account as a share of the peak of its equity, else an amount. */
  readonly drawdown?: { readonly [step in DrawdownStep]?: number }
  /** Of a strategy: trades in a row that lost, on one instrument. A trade is from flat to flat. */
  readonly streak?: number
}

/** The steps of a drawdown, from the mildest to the strictest. */
export const DRAWDOWN_STEPS = ['warn', 'reducing', 'flatten'] as const
export type DrawdownStep = (typeof DRAWDOWN_STEPS)[number]

/** From where the losses of a scope are counted. Net profit is realised less fees, with funding and unrealised. */
export interface Watermark {
  readonly scope: Scope
  /** Unix ms, our clock: when the day began that `dayNet` is of. */
  readonly dayFrom: number
  /** Net profit when the day was first judged, or after the last release; null: to be taken anew. */
  readonly dayNet: number | null
  /** The highest net profit; null: to be taken anew. */
  readonly peak: number | null
}

/** How much of its limits a scope has used, in the margin coin. */
export interface UsedLoss {
  readonly scope: Scope
  readonly net: number
  /** Below the net profit of the day's begin, and below the peak; 0 where it is above. */
  readonly dayLoss: number
  readonly drawdown: number
  /** As a share of the peak of the equity; of the account alone. */
  readonly drawdownShare?: number
}

/** What the account is worth, in the margin coin. */
export interface Equity {
  /** Capital and everything that was made. */
  readonly equity: number
  /** The highest so far: since the last release of a drawdown where that is limited, else since the run began. */
  readonly peak: number
  /** The equity below the peak; 0 at the peak. */
  readonly drawdown: number
}

/** What scopes have made, as far as it was judged in this run. Changed by `engine/state/losses.ts`. */
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
