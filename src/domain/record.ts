import type { ModeReason, Restriction, Scope } from './trading-mode.ts'
import type { AccountCall } from './account-call.ts'
import type { CandleRow } from './candles.ts'
import type { FeedId } from './feed.ts'
import type { Fill } from './fill.ts'
import type { ClientOid, OrderId, StrategyId } from './ids.ts'
import type { PositionMode } from './instrument.ts'
import type { OrderIntent, QuoteLevel, TargetIntent } from './intent.ts'
import type { Answer } from './answer.ts'
import type { ExitState } from './exits.ts'
import type { ContractRules } from './contract-rules.ts'
import type { LeavingPolicy, UniverseVerdict } from './universe.ts'
import type { DenialCode } from './denial.ts'
import type { Deposit } from './deposit.ts'
import { MANUAL } from './hand-order.ts'
import type { Watermark } from './loss-limits.ts'
import type { SeenMarket } from './seen-market.ts'
import type { SignalValue } from './signal.ts'
import type { OrderTerms } from './order.ts'
import type { Holding, HoldSide, ListedExit } from './position.ts'

/**
 * The book is a fold over these alone. They are plain JSON: no meaningful undefined, no dates, no
 * maps. Instants are Unix ms of our clock, unless the exchange's is named.
 */
export type JournalRecord =
  | BootRecord
  | DecisionRecord
  | SendRecord
  | OutcomeRecord
  | FillsRecord
  | CancelRecord
  | CancelAnsweredRecord
  | SettleRecord
  | ExpireRecord
  | AdoptRecord
  | AssignedRecord
  | EntryRecord
  | CallRecord
  | CallEndedRecord
  | ForeignRecord
  | FundingRecord
  | UnseenFundingRecord
  | RestrictedRecord
  | ReleasedRecord
  | DenialRecord
  | PruneRecord
  | RepairedRecord
  | ArchivedRecord
  | CandlesRecord
  | WatermarkRecord
  | ExitsRecord
  | ExitsListedRecord
  | UniverseRecord
  | DepartedRecord
  | SignalRecord
  | DepositRecord
  | ReloadRecord

interface DatedRecord {
  readonly at: number
}

export interface InstrumentGrids {
  readonly tick: string
  readonly lot: string
  readonly isInverse?: true
}

/** Durable before anything else. */
export interface BootRecord extends DatedRecord {
  readonly kind: 'boot'
  /** Exchange clock: a first run reads fills from here. */
  readonly exchangeAt: number
  readonly epoch: number
  readonly version: string
  readonly environment: string
  readonly positionMode: PositionMode
  readonly configHash: string
  readonly strategies: readonly StrategyId[]
  /** The book is converted if they changed. Absent in earlier records. */
  readonly grids?: Readonly<Record<string, InstrumentGrids>>
  /** The exchange has changed these rules. */
  readonly rules?: Readonly<Record<string, ContractRules>>
}

/** Without new wishes, the state is recorded at intervals. */
export interface DecisionRecord extends DatedRecord {
  readonly kind: 'decision'
  readonly strategyId: StrategyId
  /** JSON; absent if unchanged. */
  readonly stateText?: string
  readonly quotes?: readonly LadderChange[]
  readonly targets?: readonly Omit<TargetIntent, 'kind'>[]
  readonly places?: readonly OrderIntent[]
  readonly calls?: readonly AccountCall[]
  readonly withdrawn?: readonly ClientOid[]
  /** Absent: the strategy decided. */
  readonly command?: { readonly reason: string; readonly by: string; readonly key?: string }
  /** Absent if no strategy decided. */
  readonly seen?: {
    readonly snapshot: number
    readonly markets: Readonly<Record<string, SeenMarket>>
  }
}

/**
 * In full, or as a difference. `rungs`, in the new order, are new levels or earlier indexes. An
 * empty ladder is withdrawn.
 */
export type LadderChange =
  | { readonly symbol: string; readonly levels: readonly QuoteLevel[] }
  | { readonly symbol: string; readonly rungs: readonly (QuoteLevel | number)[] }

export interface DenialRecord extends DatedRecord {
  readonly kind: 'denial'
  readonly strategyId: string
  readonly symbol: string
  readonly code: DenialCode
  readonly detail: string
  readonly key?: string
  /** Equal denials at once, and since the last such record. */
  readonly orders: number
  readonly unlogged: number
}

/** Durable before the batch's first byte (ORD1). */
export interface SendRecord extends DatedRecord {
  readonly kind: 'send'
  readonly batchId: number
  readonly symbol: string
  readonly orders: readonly OrderTerms[]
  readonly again: readonly ClientOid[]
  /** Exchange clock as we know it, of the signature. */
  readonly requestAt: number
  readonly body: string
  /** When the call was granted, and how long the instrument had waited, ms. */
  readonly seen: {
    readonly snapshot: number
    readonly market: SeenMarket
    readonly waitedMs: number
  }
}

/**
 * `notSent`: no byte has left. `clockRefused`: its timestamp was refused, and a new record sends it
 * again.
 */
export type ItemOutcomeKind =
  | 'accepted'
  | 'exists'
  | 'rejected'
  | 'notSent'
  | 'clockRefused'
  | 'unknown'

export interface ItemOutcome {
  readonly clientOid: ClientOid
  readonly outcome: ItemOutcomeKind
  readonly orderId?: OrderId
  /** A 429 answered it, so no copy of an unknown item is on its way. */
  readonly isAnswered?: boolean
  /** The order already existed; the item was alone in its request. */
  readonly isDuplicate?: boolean
  readonly code?: string
  readonly message?: string
}

export interface AnswerFacts {
  readonly kind: Answer<unknown>['kind']
  readonly code: string
  readonly status?: number
  /** Exchange clock, from the envelope. */
  readonly requestTime?: number
}

export interface OutcomeRecord extends DatedRecord {
  readonly kind: 'outcome'
  readonly batchId: number
  readonly items: readonly ItemOutcome[]
  readonly answer?: AnswerFacts
}

/** Not seen before, oldest first. */
export interface FillsRecord extends DatedRecord {
  readonly kind: 'fills'
  readonly fills: readonly Fill[]
  /** Exchange clock: when the fills were read, if one has a later, so wrong, date. */
  readonly throughAt?: number
  /** They may belong to an order whose orderId is not known yet. */
  readonly waiting?: readonly OrderId[]
}

/** Durable before its first byte: afterwards no resting order is certain. */
export interface CancelRecord extends DatedRecord {
  readonly kind: 'cancel'
  /** If only the product type is named, all of ours. */
  readonly symbols: readonly string[]
  readonly requestAt: number
  readonly cause: string
}

export interface CancelAnsweredRecord extends DatedRecord {
  readonly kind: 'cancelAnswered'
  readonly listed: readonly { readonly clientOid: ClientOid; readonly orderId?: OrderId }[]
}

export interface SettleRecord extends DatedRecord {
  readonly kind: 'settle'
  readonly symbol: string
  /** No cancel-all for the symbol can arrive any more. */
  readonly isResolved: boolean
  readonly orders: readonly SettledOrder[]
}

export interface SettledOrder {
  readonly clientOid: ClientOid
  /**
   * `queued`: to be sent again unchanged · `released`: an operator has looked at a quarantined one.
   */
  readonly state: 'done' | 'absent' | 'quarantined' | 'queued' | 'released'
  /** Fills may have revealed it. */
  readonly orderId?: OrderId
  readonly reason: string
  /** It is the next generation of the key (ORD8). */
  readonly replacement?: OrderIntent
}

/** `unknown` if an earlier copy may exist. */
export interface ExpireRecord extends DatedRecord {
  readonly kind: 'expire'
  readonly orders: readonly {
    readonly clientOid: ClientOid
    readonly state: 'expired' | 'unknown'
  }[]
  readonly places: readonly { readonly strategyId: string; readonly key: string }[]
  readonly reason: string
}

/** The exchange's position differed from the fills. */
export interface AdoptRecord extends DatedRecord {
  readonly kind: 'adopt'
  readonly symbol: string
  readonly holding: Holding
  readonly was: Holding
}

/** A strategy takes over what none holds, after a command or for a flatten. */
export interface AssignedRecord extends DatedRecord {
  readonly kind: 'assigned'
  readonly symbol: string
  readonly strategyId: string
  readonly holding: Holding
  /** The account's average, not necessarily whole; absent if unknown. */
  readonly longTicks?: number
  readonly shortTicks?: number
  readonly reason: string
  readonly by: string
}

/**
 * The journal lacks the fills of some lots, so the exchange's average counts, confirmed by two
 * readings.
 */
export interface EntryRecord extends DatedRecord {
  readonly kind: 'entry'
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly lots: number
  readonly statedLots: number
  readonly ticks: number
}

export interface FundingRecord extends DatedRecord {
  readonly kind: 'funding'
  readonly symbol: string
  readonly holdSide: HoldSide
  /** Margin coin; empty once the position is gone. */
  readonly counter: string
  readonly change: string
}

/** The position ended before a reading showed what it paid. */
export interface UnseenFundingRecord extends DatedRecord {
  readonly kind: 'unseenFunding'
  readonly symbol: string
  readonly holdSide: HoldSide
  /** Exchange clock. */
  readonly paidAt: number
  /** Margin coin, negative. */
  readonly change: string
}

/** Durable before anything that follows from it. */
export interface RestrictedRecord extends Restriction {
  readonly kind: 'restricted'
}

/** Without a code, everything on the scope except a kill ends. */
export interface ReleasedRecord extends DatedRecord {
  readonly kind: 'released'
  readonly scope: Scope
  readonly code?: ModeReason
  readonly reason: string
  readonly by: string
  /**
   * `kept`: the last drawdown step keeps its peak, others take a new one. Absent, as in older
   * journals: all of a held drawdown.
   */
  readonly peak?: 'kept' | 'new'
}

export interface PruneRecord extends DatedRecord {
  readonly kind: 'prune'
  readonly ordersBefore: number
  /** The oldest are forgotten first. Absent: no maximum. */
  readonly ordersMax?: number
  /** Exchange clock: earlier trades are never read again. */
  readonly tradesBefore: number
  /** Exchange clock: every fill up to here is known. */
  readonly fillsThroughAt: number
  /** No fill after `fillsThroughAt` is known: an earlier time was in the future. */
  readonly isBroughtBack?: true
  /** Keys of ended calls used before this are forgotten. */
  readonly keysBefore: number
}

export interface ForeignRecord extends DatedRecord {
  readonly kind: 'foreign'
  readonly symbol: string
  readonly orderIds: readonly OrderId[]
}

export interface CallRecord extends DatedRecord {
  readonly kind: 'call'
  readonly strategyId: string
  readonly key: string
}

export interface CallEndedRecord extends DatedRecord {
  readonly kind: 'callEnded'
  readonly strategyId: string
  readonly key: string
  readonly outcome: 'accepted' | 'rejected' | 'expired'
  readonly reason: string
}

/** Any order may have been sent, filled or cancelled in the lost records. */
export interface RepairedRecord extends DatedRecord {
  readonly kind: 'repaired'
  readonly strategies: readonly string[]
  readonly symbols: readonly string[]
  readonly reason: string
}

export interface ArchivedRecord extends DatedRecord {
  readonly kind: 'archived'
  readonly before: number
  readonly fills: number
  readonly fundings: number
  readonly file: string
}

export interface CandlesRecord extends DatedRecord {
  readonly kind: 'candles'
  readonly symbol: string
  readonly intervalMs: number
  readonly capacity: number
  /** The oldest first. */
  readonly candles: readonly CandleRow[]
  readonly isAnew?: boolean
}

export interface WatermarkRecord extends DatedRecord {
  readonly kind: 'watermark'
  readonly watermarks: readonly Watermark[]
}

export interface ExitsRecord extends DatedRecord {
  readonly kind: 'exits'
  readonly strategyId: StrategyId
  readonly symbol: string
  /** Null: no longer configured. */
  readonly state: ExitState | null
}

export interface ExitsListedRecord extends DatedRecord {
  readonly kind: 'exitsListed'
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly listed: readonly ListedExit[]
}

export interface UniverseRecord extends DatedRecord {
  readonly kind: 'universe'
  readonly strategyId: StrategyId
  /** Exchange clock, of the evaluated tickers. */
  readonly marketAt: number
  readonly rule: string
  /** Their rules count as long as they are members. */
  readonly joined: readonly {
    readonly symbol: string
    readonly rules: ContractRules
    readonly grids: InstrumentGrids
  }[]
  readonly left: readonly { readonly symbol: string; readonly policy: LeavingPolicy }[]
  /** Null: nothing lists the symbol. */
  readonly verdicts: Readonly<Record<string, UniverseVerdict | null>>
  readonly seen: readonly string[]
  readonly forgotten: readonly string[]
}

/** Nothing of its strategy is open on it. */
export interface DepartedRecord extends DatedRecord {
  readonly kind: 'departed'
  readonly strategyId: StrategyId
  readonly symbol: string
  /** Lots that its strategy still holds. */
  readonly holding: Holding
  /** The strategy trades it in any case. */
  readonly isFixed?: true
}

/** Durable before its sender is answered: a restart shows it until it expires. */
export interface SignalRecord extends DatedRecord {
  readonly kind: 'signal'
  readonly feed: FeedId
  readonly id: string
  readonly value: SignalValue
  readonly untilAt: number
  /** As its sender says, Unix ms: a later one is not replaced by an earlier one. */
  readonly sentAt?: number
  /** Earlier ids are forgotten; Unix ms, our clock. */
  readonly idsBefore: number
}

/** `at` is when it was entered. */
export interface DepositRecord extends DatedRecord {
  readonly kind: 'deposit'
  readonly deposit: Deposit
}

/** The next run begins with what was changed. */
export interface ReloadRecord extends DatedRecord {
  readonly kind: 'reload'
  /** In words, as the plan showed them, and the digest of the files. */
  readonly changes: readonly string[]
  readonly reason: string
  /** With the way, and the proposal and its code where one was confirmed. */
  readonly by: string
}

/** Names one order, one call on the account, or one command by hand, for ever. */
export interface StrategyKey {
  readonly purpose: 'place' | 'call' | 'command'
  readonly strategyId: string
  readonly key: string
}

export interface UsedKey extends StrategyKey, DatedRecord {}

export function keysUsedBy(record: JournalRecord): readonly UsedKey[] {
  const { at } = record
  if (record.kind === 'restricted') return usedBy(record)
  if (record.kind === 'decision') {
    const { calls = [], strategyId, command } = record
    const called = calls.map(({ key }) => ({ purpose: 'call', strategyId, key, at }) as const)
    return [...called, ...usedBy({ ...command, at })]
  }
  if (record.kind !== 'send') return []
  return record.orders
    .filter(({ purpose }) => purpose === 'place')
    .map(({ strategyId, key }) => ({ purpose: 'place', strategyId, key, at }))
}

/** A close and a cancel are commands of `manual`, whatever they concern. */
function usedBy({ key, at }: { readonly key?: string; readonly at: number }): readonly UsedKey[] {
  return key === undefined ? [] : [{ purpose: 'command', strategyId: MANUAL, key, at }]
}
