import type { Answer } from '../domain/answer.ts'
import type { CandleRow } from '../domain/candles.ts'
import type { ContractRules } from '../domain/contract-rules.ts'
import type { Denial } from '../domain/denial.ts'
import type { FeedId, FeedReading } from '../domain/feed.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { Intent } from '../domain/intent.ts'
import type { PositionReading } from '../domain/position.ts'
import type { UsedKey } from '../domain/record.ts'
import type { Scope } from '../domain/trading-mode.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { BatchResult } from '../protocol/values.ts'

/** The calls for which the core asks the limiter for a grant, and which it makes up only when the grant comes. */
export type GrantedEndpoint = 'batchPlaceOrder' | 'cancelAllOrders'

/** What an operator, or the process that is being stopped, wants. */
export type StopPolicy = 'leave' | 'cancel' | 'flatten'

/** Everything that can happen to the core. */
export type EngineEvent =
  /** A run of the process begins; the book has been rebuilt. */
  | { readonly kind: 'started' }
  /**
   * Exchange clock less ours, ms; measured twice with the same result. `isPublic`: by public answers alone, as before the
   * first signed ones; it is good enough for reads and cancel-alls, and no order leaves on it.
   */
  | { readonly kind: 'clockSynchronised'; readonly offsetMs: number; readonly isPublic?: true }
  /** One of the two clocks may have jumped: until it is measured again no order is sent. */
  | { readonly kind: 'clockUnsynchronised'; readonly reason: string }
  | { readonly kind: 'snapshotTaken'; readonly tickers: TickerTable }
  | {
      readonly kind: 'decided'
      readonly strategyId: StrategyId
      /** The snapshot that was decided on. */
      readonly sequence: number
      readonly intents: readonly Intent[]
      /** What the strategy remembers from now on: plain data that nobody changes. */
      readonly state: unknown
      /** Denials of what the strategy returned and was not a valid intent. */
      readonly denials: readonly Denial[]
      /** Those keys of its intents that were used before and that the book has forgotten; absent for none. */
      readonly usedKeys?: readonly UsedKey[]
    }
  /** The strategy threw, or answered nonsense. */
  | {
      readonly kind: 'decisionFailed'
      readonly strategyId: StrategyId
      readonly reason: string
      /** The strategy will not be asked for a while. */
      readonly isPaused?: boolean
    }
  | { readonly kind: 'granted'; readonly endpoint: GrantedEndpoint }
  | {
      readonly kind: 'batchAnswered'
      readonly batchId: number
      readonly answer: Answer<BatchResult>
    }
  | {
      readonly kind: 'cancelAnswered'
      readonly cancelId: number
      readonly answer: Answer<BatchResult>
    }
  | { readonly kind: 'callAnswered'; readonly callId: number; readonly answer: Answer<unknown> }
  | { readonly kind: 'fillsRead'; readonly reading: FillsReading }
  | { readonly kind: 'positionRead'; readonly reading: PositionReading }
  /** A row of the position is not as the document describes. */
  | { readonly kind: 'positionUnreadable'; readonly symbol: string; readonly problem: string }
  | {
      readonly kind: 'readFailed'
      readonly what: string
      readonly reason: string
      /** Of the answer, where there was one. */
      readonly status?: number | undefined
      /** The exchange would only refuse it again; absent where it has not answered. */
      readonly isRefused?: boolean
      /** The exchange does not know the instrument of the position any more. */
      readonly isRemoved?: boolean
    }
  /** Candles that the exchange keeps were read. */
  | ({ readonly kind: 'candlesFetched' } & FetchedCandles)
  /** The contracts of the product type, and their rules. */
  | { readonly kind: 'contractsRead'; readonly contracts: ReadonlyMap<string, ContractRules> }
  | { readonly kind: 'feedRead'; readonly feed: FeedId; readonly reading: FeedReading }
  /** The grid says that it is time to read again. */
  | { readonly kind: 'pollDue'; readonly what: 'fills' | 'positions' }
  | { readonly kind: 'commanded'; readonly command: EngineCommand }
  /** Whether the journal's disk has less room than the configuration wants; bytes. */
  | { readonly kind: 'spaceMeasured'; readonly isLow: boolean; readonly freeBytes: number }
  | { readonly kind: 'timePassed' }

/** Candles of one instrument and interval as the exchange keeps them. */
export interface FetchedCandles {
  readonly symbol: string
  readonly intervalMs: number
  /** Closed ones, the oldest first. */
  readonly rows: readonly CandleRow[]
  /** The one that had not closed yet; absent if the exchange did not show it. */
  readonly running?: CandleRow | undefined
}

/** Who gives the command, and why. */
interface CommandSource {
  readonly reason: string
  readonly by: string
}

export type EngineCommand =
  | { readonly kind: 'stop'; readonly policy: StopPolicy }
  /** Holds a scope in a trading mode until it is released. */
  | ({
      readonly kind: 'restrict'
      readonly scope: Scope
      readonly mode: 'reducing' | 'halted'
    } & CommandSource)
  /** The strategy is not asked again before it is released: it failed where the core could not see it. */
  | ({ readonly kind: 'haltStrategy'; readonly strategyId: StrategyId } & CommandSource)
  /** Closes everything in a scope, and holds it halted until it is released. */
  | ({ readonly kind: 'flatten'; readonly scope: Scope } & CommandSource)
  /** Hands what the account holds of an instrument beside all strategies to one of those that trade it. */
  | ({
      readonly kind: 'adopt'
      readonly symbol: string
      readonly strategyId: string
    } & CommandSource)
  /**
   * Ends everything that holds the scope, except a kill; `newPeak`: all steps of its drawdown count from now on;
   * `unclaimed`: what no strategy holds may stay so.
   */
  | ({
      readonly kind: 'release'
      readonly scope: Scope
      readonly newPeak?: boolean | undefined
      readonly unclaimed?: boolean | undefined
    } & CommandSource)
  /** Throws the kill switch, or releases it. */
  | ({ readonly kind: 'kill' } & CommandSource)
  | ({ readonly kind: 'releaseKill' } & CommandSource)
