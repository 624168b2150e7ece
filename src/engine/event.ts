import type { Answer } from '../domain/answer.ts'
import type { CandleRow } from '../domain/candles.ts'
import type { ContractRules } from '../domain/contract-rules.ts'
import type { Denial } from '../domain/denial.ts'
import type { FeedId, FeedReading } from '../domain/feed.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { HandOrder } from '../domain/hand-order.ts'
import type { Intent } from '../domain/intent.ts'
import type { ListedExits, PositionReading } from '../domain/position.ts'
import type { UsedKey } from '../domain/record.ts'
import type { Signal } from '../domain/signal.ts'
import type { Scope } from '../domain/trading-mode.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { BatchResult } from '../protocol/values.ts'

/** Calls that are written only when the limiter grants them. */
export type GrantedEndpoint = 'batchPlaceOrder' | 'cancelAllOrders'

export type StopPolicy = 'leave' | 'cancel' | 'flatten'

export type EngineEvent =
  /** A run begins; the book has been rebuilt. */
  | { readonly kind: 'started' }
  /**
   * `offsetMs`: exchange clock less ours, measured twice alike. `isPublic`: by public answers alone,
   * which is enough for readings and cancel-alls, and for no order.
   */
  | { readonly kind: 'clockSynchronised'; readonly offsetMs: number; readonly isPublic?: true }
  /** A clock may have jumped: no order leaves until it is measured again. */
  | { readonly kind: 'clockUnsynchronised'; readonly reason: string }
  | { readonly kind: 'snapshotTaken'; readonly tickers: TickerTable }
  | {
      readonly kind: 'decided'
      readonly strategyId: StrategyId
      /** The snapshot that was decided on. */
      readonly sequence: number
      readonly intents: readonly Intent[]
      /** Plain data that is not changed any more. */
      readonly state: unknown
      /** Returned intents that were not valid. */
      readonly denials: readonly Denial[]
      /** Keys of these intents that were used before, and that the book has forgotten. */
      readonly usedKeys?: readonly UsedKey[]
    }
  /** The strategy threw, or answered nonsense. */
  | {
      readonly kind: 'decisionFailed'
      readonly strategyId: StrategyId
      readonly reason: string
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
  | { readonly kind: 'positionUnreadable'; readonly symbol: string; readonly problem: string }
  | {
      readonly kind: 'readFailed'
      readonly what: string
      readonly reason: string
      readonly status?: number | undefined
      /** The exchange has answered, and would refuse the reading again. */
      readonly isRefused?: boolean
      /** The exchange does not know the instrument any more. */
      readonly isRemoved?: boolean
    }
  | ({ readonly kind: 'candlesFetched' } & FetchedCandles)
  | { readonly kind: 'contractsRead'; readonly contracts: ReadonlyMap<string, ContractRules> }
  | { readonly kind: 'exitsListed'; readonly listed: ListedExits }
  | { readonly kind: 'exitsUnlisted'; readonly symbol: string; readonly problem: string }
  | { readonly kind: 'feedRead'; readonly feed: FeedId; readonly reading: FeedReading }
  /** A signal from outside, which came with its secret. */
  | ({ readonly kind: 'signalTaken' } & Signal)
  | { readonly kind: 'pollDue'; readonly what: 'fills' | 'positions' }
  | { readonly kind: 'commanded'; readonly command: EngineCommand }
  /** `isLow`: the disk of the journal has less room than configured. */
  | { readonly kind: 'spaceMeasured'; readonly isLow: boolean; readonly freeBytes: number }
  | { readonly kind: 'timePassed' }

export type EventOf<Kind extends EngineEvent['kind']> = Extract<
  EngineEvent,
  { readonly kind: Kind }
>

export interface FetchedCandles {
  readonly symbol: string
  readonly intervalMs: number
  /** The oldest first. */
  readonly rows: readonly CandleRow[]
  /** Not closed yet; absent if the exchange did not show it. */
  readonly running?: CandleRow | undefined
}

/** A second command with this key does nothing. */
interface HandKey {
  readonly key: string
  readonly isKeyUsed?: true
}

export interface CommandSource {
  readonly reason: string
  readonly by: string
}

export type DepositCommand = Extract<EngineCommand, { kind: 'deposit' | 'correctDeposit' }>

export type HandCommand = KeyedCommand | DepositCommand

const BY_HAND: ReadonlySet<EngineCommand['kind']> = new Set<HandCommand['kind']>([
  'order',
  'close',
  'cancel',
  'deposit',
  'correctDeposit',
])

/** Trades by hand, whose keys the journal remembers. */
export type KeyedCommand = Extract<EngineCommand, { kind: 'order' | 'close' | 'cancel' }>

export function isKeyed(command: EngineCommand): command is KeyedCommand {
  return command.kind === 'order' || command.kind === 'close' || command.kind === 'cancel'
}

export function isByHand(command: EngineCommand): command is HandCommand {
  return BY_HAND.has(command.kind)
}

export type EngineCommand =
  | { readonly kind: 'stop'; readonly policy: StopPolicy }
  /** Holds until a release. */
  | ({
      readonly kind: 'restrict'
      readonly scope: Scope
      readonly mode: 'reducing' | 'halted'
    } & CommandSource)
  /** The strategy failed where the core could not see it, and is not asked before a release. */
  | ({ readonly kind: 'haltStrategy'; readonly strategyId: StrategyId } & CommandSource)
  /** Holds the scope halted until a release. */
  | ({ readonly kind: 'flatten'; readonly scope: Scope } & CommandSource)
  /** Places an order of the strategy `manual`. */
  | ({ readonly kind: 'order' } & HandOrder & CommandSource)
  /** Closes a share of what strategies hold; the scope only reduces until a release. */
  | ({
      readonly kind: 'close'
      readonly scope: Scope
      /** Above 0 and at most 1. */
      readonly share: number
    } & HandKey &
      CommandSource)
  /** Cancels orders placed by name: those of an instrument or an owner, or one of them. */
  | ({ readonly kind: 'cancel'; readonly what: string } & HandKey & CommandSource)
  /** A strategy gets what the account holds beside all strategies. */
  | ({
      readonly kind: 'adopt'
      readonly symbol: string
      readonly strategyId: string
    } & CommandSource)
  /**
   * Ends every restriction of the scope, except a kill. `newPeak`: all steps of its drawdown count
   * from now; `unclaimed`: lots that no strategy holds may stay so, although one would order them again.
   */
  | ({
      readonly kind: 'release'
      readonly scope: Scope
      readonly newPeak?: boolean | undefined
      readonly unclaimed?: boolean | undefined
    } & CommandSource)
  /** Enters money that was moved to the account; a negative amount was withdrawn. */
  | ({
      readonly kind: 'deposit'
      readonly amount: string
      /** Default: the margin coin. */
      readonly coin?: string | undefined
      /** Unix ms; default: now. */
      readonly movedAt?: number | undefined
      /** As for {@link HandKey}. */
      readonly key: string
    } & CommandSource)
  /** Takes an entry back by one of the opposite amount. */
  | ({
      readonly kind: 'correctDeposit'
      readonly id: string
      readonly key: string
    } & CommandSource)
  /** The configuration was read again, and the run ends so that the next one begins with it. */
  | ({ readonly kind: 'reload'; readonly changes: readonly string[] } & CommandSource)
  | ({ readonly kind: 'kill' } & CommandSource)
  | ({ readonly kind: 'releaseKill' } & CommandSource)
