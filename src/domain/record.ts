import type { ModeReason, Restriction, Scope } from './trading-mode.ts'
import type { AccountCall } from './account-call.ts'
import type { CandleRow } from './candles.ts'
import type { Fill } from './fill.ts'
import type { ClientOid, OrderId, StrategyId } from './ids.ts'
import type { PositionMode } from './instrument.ts'
import type { OrderIntent, QuoteLevel } from './intent.ts'
import type { Answer } from './answer.ts'
import type { ExitState } from './exits.ts'
import type { DenialCode } from './denial.ts'
import type { Watermark } from './loss-limits.ts'
import type { SeenMarket } from './seen-market.ts'
import type { OrderTerms } from './order.ts'
import type { Holding, HoldSide } from './position.ts'

/**
 * The records of the journal, in order. The book is a fold over these records and nothing else, so
 * a book rebuilt from the journal equals the original. Plain JSON: no meaningful undefined, no
 * dates, no maps.
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
  | RestrictedRecord
  | ReleasedRecord
  | DenialRecord
  | PruneRecord
  | RepairedRecord
  | ArchivedRecord
  | CandlesRecord
  | WatermarkRecord
  | ExitsRecord

interface DatedRecord {
  /** Unix ms, our clock. */
  readonly at: number
}

/** The tick and lot size in which an instrument's prices and sizes are counted, as text. */
export interface InstrumentGrids {
  readonly tick: string
  readonly lot: string
  /** Whether profit is counted in the base coin. Absent: in the quote coin. */
  readonly isInverse?: true
}

/** A run of the process began. Durable before anything else. */
export interface BootRecord extends DatedRecord {
  readonly kind: 'boot'
  /** Unix ms, exchange clock: a first run reads fills from this time. */
  readonly exchangeAt: number
  readonly epoch: number
  readonly version: string
  readonly environment: string
  readonly positionMode: PositionMode
  readonly configHash: string
  readonly strategies: readonly StrategyId[]
  /**
   * Keyed by symbol. If they have changed, the book is converted. Absent in records of earlier versions.
   */
  readonly grids?: Readonly<Record<string, InstrumentGrids>>
}

/**
 * The changes that a strategy's decision made to its wishes and its state. If there are no new
 * wishes, the state is recorded at intervals.
 */
export interface DecisionRecord extends DatedRecord {
  readonly kind: 'decision'
  readonly strategyId: StrategyId
  /** The strategy's state as JSON text; absent if it has not changed. */
  readonly stateText?: string
  /** Ladders that changed. */
  readonly quotes?: readonly LadderChange[]
  readonly targets?: readonly { readonly symbol: string; readonly lots: number }[]
  /** Accepted `place` intents, waiting to be sent. */
  readonly places?: readonly OrderIntent[]
  /** Calls on the account, waiting to be made. */
  readonly calls?: readonly AccountCall[]
  /** Orders that the strategy no longer wants to rest. */
  readonly withdrawn?: readonly ClientOid[]
  /** The market behind the decision; absent if no strategy decided. */
  readonly seen?: {
    readonly snapshot: number
    /** Keyed by symbol, for the instruments on which something changed. */
    readonly markets: Readonly<Record<string, SeenMarket>>
  }
}

/**
 * A ladder that changed: in full, or as a difference from the one before. `rungs` are in the order
 * of the new ladder; each is a new level, or the index (from 0) that the level had before. An empty
 * ladder is withdrawn.
 */
export type LadderChange =
  | { readonly symbol: string; readonly levels: readonly QuoteLevel[] }
  | { readonly symbol: string; readonly rungs: readonly (QuoteLevel | number)[] }

/** Why wishes did not become orders, for `explain`. It changes nothing in the book. */
export interface DenialRecord extends DatedRecord {
  readonly kind: 'denial'
  readonly strategyId: string
  readonly symbol: string
  readonly code: DenialCode
  readonly detail: string
  /** The key of a `place` intent. */
  readonly key?: string
  /** How many equal denials occurred at once, and how many since the last such record. */
  readonly orders: number
  readonly unlogged: number
}

/** A batch is about to be sent. Durable before its first byte (ORD1). */
export interface SendRecord extends DatedRecord {
  readonly kind: 'send'
  readonly batchId: number
  readonly symbol: string
  /** Orders that are sent for the first time. */
  readonly orders: readonly OrderTerms[]
  /** Orders that are sent again, unchanged. */
  readonly again: readonly ClientOid[]
  /** Unix ms, exchange clock as we know it, of the signature. */
  readonly requestAt: number
  /** The request body, byte for byte. */
  readonly body: string
  /**
   * The market when the limiter granted the call, and how long the instrument had waited for it,
   * ms.
   */
  readonly seen: {
    readonly snapshot: number
    readonly market: SeenMarket
    readonly waitedMs: number
  }
}

/**
 * The outcome of one item of a batch. `notSent`: no byte of it has left. `clockRefused`: its
 * timestamp was refused; it is sent again under a new record with another timestamp.
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
  /** For an unknown item: its request was answered (with a 429), so no copy of it is on its way. */
  readonly isAnswered?: boolean
  /**
   * For an unknown item that was alone in its request: the exchange refused the request because the
   * order already existed.
   */
  readonly isDuplicate?: boolean
  readonly code?: string
  readonly message?: string
}

/** The answer to the call as a whole. */
export interface AnswerFacts {
  readonly kind: Answer<unknown>['kind']
  readonly code: string
  readonly status?: number
  /** Unix ms, exchange clock, if the envelope had it. */
  readonly requestTime?: number
}

export interface OutcomeRecord extends DatedRecord {
  readonly kind: 'outcome'
  readonly batchId: number
  readonly items: readonly ItemOutcome[]
  /** The answer behind the outcomes; absent if they were determined otherwise. */
  readonly answer?: AnswerFacts
}

/** Fills not seen before, oldest first. */
export interface FillsRecord extends DatedRecord {
  readonly kind: 'fills'
  readonly fills: readonly Fill[]
  /**
   * Unix ms, exchange clock: when the fills were read, if one of them has a later, so wrong, date.
   * Absent: none has.
   */
  readonly throughAt?: number
  /**
   * The orderIds of fills from another source than the API that may belong to an order whose
   * orderId is unknown: they wait for it. Absent: none do.
   */
  readonly waiting?: readonly OrderId[]
}

/**
 * A cancel-all is about to be sent. Durable before its first byte, since from then on no resting
 * order is certain.
 */
export interface CancelRecord extends DatedRecord {
  readonly kind: 'cancel'
  /** Our instruments that it covers: one, or all if it names only the product type. */
  readonly symbols: readonly string[]
  /** Unix ms, exchange clock as we know it. */
  readonly requestAt: number
  readonly cause: string
}

/** A cancel-all was answered: the orders that it has cancelled. */
export interface CancelAnsweredRecord extends DatedRecord {
  readonly kind: 'cancelAnswered'
  readonly listed: readonly { readonly clientOid: ClientOid; readonly orderId?: OrderId }[]
}

/** The fate of orders of one instrument, as fills and readings prove it. */
export interface SettleRecord extends DatedRecord {
  readonly kind: 'settle'
  readonly symbol: string
  /** Whether this ended a resolution: no cancel-all for the symbol can arrive any more. */
  readonly isResolved: boolean
  readonly orders: readonly SettledOrder[]
}

export interface SettledOrder {
  readonly clientOid: ClientOid
  /**
   * `queued`: to be sent again unchanged · `released`: an operator has looked at a quarantined one.
   */
  readonly state: 'done' | 'absent' | 'quarantined' | 'queued' | 'released'
  /** The orderId, if fills have revealed it. */
  readonly orderId?: OrderId
  readonly reason: string
  /** The order that is placed again as the next generation of the key (ORD8). */
  readonly replacement?: OrderIntent
}

/** Waiting orders that are no longer sent; `unknown` if an earlier copy may exist. */
export interface ExpireRecord extends DatedRecord {
  readonly kind: 'expire'
  readonly orders: readonly {
    readonly clientOid: ClientOid
    readonly state: 'expired' | 'unknown'
  }[]
  /** Keys of waiting `place` intents that were dropped. */
  readonly places: readonly { readonly strategyId: string; readonly key: string }[]
  readonly reason: string
}

/** The exchange's position differs from the fills, and was adopted. */
export interface AdoptRecord extends DatedRecord {
  readonly kind: 'adopt'
  readonly symbol: string
  readonly holding: Holding
  readonly was: Holding
}

/**
 * A strategy takes over what the account holds of an instrument outside all strategies, by an
 * operator's command or a flatten.
 */
export interface AssignedRecord extends DatedRecord {
  readonly kind: 'assigned'
  readonly symbol: string
  readonly strategyId: string
  /** The lots that no strategy held, or the part of them that is taken over. */
  readonly holding: Holding
  /**
   * The average price that the account paid for each side, not necessarily whole; absent if it is
   * not known.
   */
  readonly longTicks?: number
  readonly shortTicks?: number
  readonly reason: string
  readonly by: string
}

/**
 * The exchange's average entry price of a side of the position, confirmed by two readings: the
 * journal lacks the fills of some of its lots.
 */
export interface EntryRecord extends DatedRecord {
  readonly kind: 'entry'
  readonly symbol: string
  readonly holdSide: HoldSide
  /** The lots held on that side, and how many of them no fill explains. */
  readonly lots: number
  readonly statedLots: number
  /** Not necessarily whole. */
  readonly ticks: number
}

/** The funding counter of a position moved. Decimal strings in the margin coin. */
export interface FundingRecord extends DatedRecord {
  readonly kind: 'funding'
  readonly symbol: string
  readonly holdSide: HoldSide
  /** The counter as read; empty once the position is gone. */
  readonly counter: string
  /** The change of the counter. */
  readonly change: string
}

/** A restriction begins. Durable before anything that follows from it. */
export interface RestrictedRecord extends Restriction {
  readonly kind: 'restricted'
}

/** A restriction ends: the one with this code, or without a code all of the scope except a kill. */
export interface ReleasedRecord extends DatedRecord {
  readonly kind: 'released'
  readonly scope: Scope
  readonly code?: ModeReason
  readonly reason: string
  readonly by: string
  /**
   * `kept`: the last drawdown step keeps its peak, the others take a new one. `new`: all steps take
   * a new peak, whether or not a drawdown was held. Absent, as in older journals: all steps of a
   * held drawdown take a new peak.
   */
  readonly peak?: 'kept' | 'new'
}

/** The book forgets what ended some time ago. */
export interface PruneRecord extends DatedRecord {
  readonly kind: 'prune'
  /** Unix ms, our clock: orders that ended before this are forgotten. */
  readonly ordersBefore: number
  /** Maximum number of orders that are forgotten, the oldest first. Absent: all of them. */
  readonly ordersMax?: number
  /**
   * Unix ms, exchange clock: trades before this are forgotten. No earlier fill is read any more.
   */
  readonly tradesBefore: number
  /** Unix ms, exchange clock: every fill up to here is known. */
  readonly fillsThroughAt: number
  /** No fill after `fillsThroughAt` is known: the time recorded before was in the future. */
  readonly isBroughtBack?: true
  /**
   * Unix ms, our clock: call keys used before this are forgotten, unless the call is still open.
   */
  readonly keysBefore: number
}

/** Fills that belong to no order of ours, after every possible owner was ruled out. */
export interface ForeignRecord extends DatedRecord {
  readonly kind: 'foreign'
  readonly symbol: string
  readonly orderIds: readonly OrderId[]
}

/** A call on the account is about to be made, for the first time or again. */
export interface CallRecord extends DatedRecord {
  readonly kind: 'call'
  readonly strategyId: string
  readonly key: string
}

/** A call on the account has ended. */
export interface CallEndedRecord extends DatedRecord {
  readonly kind: 'callEnded'
  readonly strategyId: string
  readonly key: string
  readonly outcome: 'accepted' | 'rejected' | 'expired'
  readonly reason: string
}

/**
 * Stands for records that were lost with a damaged journal: any order may have been sent, filled or
 * cancelled in them. A repair writes it in their place.
 */
export interface RepairedRecord extends DatedRecord {
  readonly kind: 'repaired'
  /** Everything that may have been traded: each strategy with each of these instruments. */
  readonly strategies: readonly string[]
  readonly symbols: readonly string[]
  readonly reason: string
}

/** Old fills and funding payments were written to a file and deleted from the journal. */
export interface ArchivedRecord extends DatedRecord {
  readonly kind: 'archived'
  /** Unix ms: fills and payments before this were deleted. */
  readonly before: number
  readonly fills: number
  readonly fundings: number
  readonly file: string
}

/** Candles that have closed. */
export interface CandlesRecord extends DatedRecord {
  readonly kind: 'candles'
  readonly symbol: string
  readonly intervalMs: number
  /** How many candles are kept; 0 drops the series. */
  readonly capacity: number
  /** The oldest first. Gaps are filled with flat candles. */
  readonly candles: readonly CandleRow[]
  /** Whether they replace the stored candles. */
  readonly isAnew?: boolean
}

/** New reference values for losses. */
export interface WatermarkRecord extends DatedRecord {
  readonly kind: 'watermark'
  readonly watermarks: readonly Watermark[]
}

/** The new state of the exits of a strategy on an instrument. */
export interface ExitsRecord extends DatedRecord {
  readonly kind: 'exits'
  readonly strategyId: StrategyId
  readonly symbol: string
  /** Null: they are not configured any more. */
  readonly state: ExitState | null
}

/** A key of a strategy: it permanently names one order, or one call on the account. */
export interface StrategyKey {
  readonly purpose: 'place' | 'call'
  readonly strategyId: string
  readonly key: string
}

/** A used key, and when it was used: Unix ms, our clock. */
export interface UsedKey extends StrategyKey, DatedRecord {}

/** The keys that a record uses: of orders sent by key, and of calls that were decided on. */
export function keysUsedBy(record: JournalRecord): readonly UsedKey[] {
  const { at } = record
  if (record.kind === 'decision') {
    const { calls = [], strategyId } = record
    return calls.map(({ key }) => ({ purpose: 'call', strategyId, key, at }))
  }
  if (record.kind !== 'send') return []
  return record.orders
    .filter(({ purpose }) => purpose === 'place')
    .map(({ strategyId, key }) => ({ purpose: 'place', strategyId, key, at }))
}
