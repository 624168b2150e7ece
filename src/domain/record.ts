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
 * Records are plain JSON without meaningful undefined, dates or maps. Instants are Unix ms of our
 * clock, unless a comment names the exchange's.
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

export interface BootRecord extends DatedRecord {
  readonly kind: 'boot'
  /** A first run reads fills from here; exchange clock. */
  readonly exchangeAt: number
  readonly epoch: number
  readonly version: string
  readonly environment: string
  readonly positionMode: PositionMode
  readonly configHash: string
  readonly strategies: readonly StrategyId[]
  /** Keyed by symbol: the book is converted where they changed. Absent in earlier records. */
  readonly grids?: Readonly<Record<string, InstrumentGrids>>
  /** Keyed by symbol: rules of members that the exchange has changed. */
  readonly rules?: Readonly<Record<string, ContractRules>>
}

/** A decision records wishes that have changed, or only the strategy's state, at intervals. */
export interface DecisionRecord extends DatedRecord {
  readonly kind: 'decision'
  readonly strategyId: StrategyId
  /** As JSON; absent if it has not changed. */
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

/** The ladder in full, or as `rungs`: new levels, and indexes of earlier ones, in the new order. */
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
  /** A count: so many denials were equal at once. */
  readonly orders: number
  /** Equal ones since the last such record. */
  readonly unlogged: number
}

/** Durable before the batch's first byte (ORD1). */
export interface SendRecord extends DatedRecord {
  readonly kind: 'send'
  readonly batchId: number
  readonly symbol: string
  readonly orders: readonly OrderTerms[]
  readonly again: readonly ClientOid[]
  /** When the batch was signed, by the exchange's clock as we know it. */
  readonly requestAt: number
  readonly body: string
  /** Taken when the call was granted; `waitedMs` is the wait of the instrument. */
  readonly seen: {
    readonly snapshot: number
    readonly market: SeenMarket
    readonly waitedMs: number
  }
}

/** `clockRefused`: the time of the request was refused, and a new record sends the order again. */
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
  /** The answer was a 429, so no copy of an unknown item is on its way. */
  readonly isAnswered?: boolean
  /** The order existed already; the item was alone in its request. */
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

/** New fills, the oldest first. */
export interface FillsRecord extends DatedRecord {
  readonly kind: 'fills'
  readonly fills: readonly Fill[]
  /** Exchange clock at the reading, if a fill is dated later, which is wrong. */
  readonly throughAt?: number
  /** Their fills may be of an order whose orderId is not known yet. */
  readonly waiting?: readonly OrderId[]
}

/** Durable before the cancel-all's first byte: no resting order is certain from then on. */
export interface CancelRecord extends DatedRecord {
  readonly kind: 'cancel'
  /** All instruments, if the cancel-all names only the product type. */
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
  /** `released`: an operator has looked at a quarantined order. */
  readonly state: 'done' | 'absent' | 'quarantined' | 'queued' | 'released'
  readonly orderId?: OrderId
  readonly reason: string
  /** Places the order again, as the next generation of its key (ORD8). */
  readonly replacement?: OrderIntent
}

/** An order becomes `unknown` if an earlier copy may exist. */
export interface ExpireRecord extends DatedRecord {
  readonly kind: 'expire'
  readonly orders: readonly {
    readonly clientOid: ClientOid
    readonly state: 'expired' | 'unknown'
  }[]
  readonly places: readonly { readonly strategyId: string; readonly key: string }[]
  readonly reason: string
}

/** The exchange's position differed from the fills, and counts from now on. */
export interface AdoptRecord extends DatedRecord {
  readonly kind: 'adopt'
  readonly symbol: string
  readonly holding: Holding
  readonly was: Holding
}

/** A strategy takes over lots without an owner, after a command or for a flatten. */
export interface AssignedRecord extends DatedRecord {
  readonly kind: 'assigned'
  readonly symbol: string
  readonly strategyId: string
  readonly holding: Holding
  /** The account's average price, which need not be whole; absent if unknown. */
  readonly longTicks?: number
  readonly shortTicks?: number
  readonly reason: string
  readonly by: string
}

/** The average price that two readings stated for lots without fills in the journal. */
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
  /** Margin coin. */
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

/** Without a code, every restriction of the scope except a kill ends. */
export interface ReleasedRecord extends DatedRecord {
  readonly kind: 'released'
  readonly scope: Scope
  readonly code?: ModeReason
  readonly reason: string
  readonly by: string
  /** `kept`: only the last drawdown step keeps its peak. Absent in older journals, which kept none. */
  readonly peak?: 'kept' | 'new'
}

export interface PruneRecord extends DatedRecord {
  readonly kind: 'prune'
  readonly ordersBefore: number
  /** At most so many orders are forgotten, the oldest first. */
  readonly ordersMax?: number
  /** Earlier trades are never read again; exchange clock. */
  readonly tradesBefore: number
  /** Every fill up to here is known; exchange clock. */
  readonly fillsThroughAt: number
  /** `fillsThroughAt` is set back, because it was in the future. */
  readonly isBroughtBack?: true
  /** Keys of ended calls are forgotten if they were used before this. */
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

/** Lost records may have sent, filled or cancelled any order. */
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
  /** Null: not configured any more. */
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
  /** The time of the evaluated tickers; exchange clock. */
  readonly marketAt: number
  readonly rule: string
  /** These rules count as long as the instrument is a member. */
  readonly joined: readonly {
    readonly symbol: string
    readonly rules: ContractRules
    readonly grids: InstrumentGrids
  }[]
  readonly left: readonly { readonly symbol: string; readonly policy: LeavingPolicy }[]
  /** Null: the symbol is not listed any more. */
  readonly verdicts: Readonly<Record<string, UniverseVerdict | null>>
  readonly seen: readonly string[]
  readonly forgotten: readonly string[]
}

/** An instrument has left its strategy, which has nothing open on it. */
export interface DepartedRecord extends DatedRecord {
  readonly kind: 'departed'
  readonly strategyId: StrategyId
  readonly symbol: string
  /** Lots that the strategy still holds. */
  readonly holding: Holding
  /** The configuration names the instrument by now. */
  readonly isFixed?: true
}

/** Durable before the sender is answered: a restart shows the signal until it expires. */
export interface SignalRecord extends DatedRecord {
  readonly kind: 'signal'
  readonly feed: FeedId
  readonly id: string
  readonly value: SignalValue
  readonly untilAt: number
  /** As the sender says: an earlier signal does not replace a later one. */
  readonly sentAt?: number
  /** Ids that were taken before this are forgotten. */
  readonly idsBefore: number
}

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
  /** Names the proposal and its code too, if one was confirmed. */
  readonly by: string
}

/** A key names one order, one call on the account, or one command by hand, for ever. */
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

/** A close and a cancel belong to `manual`, whatever they concern. */
function usedBy({ key, at }: { readonly key?: string; readonly at: number }): readonly UsedKey[] {
  return key === undefined ? [] : [{ purpose: 'command', strategyId: MANUAL, key, at }]
}
