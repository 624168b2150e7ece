import { type ModeReason, type Restriction, type Scope } from './trading-mode.ts'
import { type AccountCall } from './account-call.ts'
import { type CandleRow } from './candles.ts'
import { type Fill } from './fill.ts'
import { type ClientOid, type OrderId, type StrategyId } from './ids.ts'
import { type PositionMode } from './instrument.ts'
import { type OrderIntent, type QuoteLevel } from './intent.ts'
import { type Answer } from './answer.ts'
import { type DenialCode } from './denial.ts'
import { type Watermark } from './loss-limits.ts'
import { type SeenMarket } from './seen-market.ts'
import { type OrderTerms } from './order.ts'
import { type Holding, type HoldSide } from './position.ts'

/**
 * What the journal keeps, in order. The book is the fold of these records and of nothing else, so what is
 * rebuilt from the journal equals what wrote it. Plain JSON: no undefined that matters, no dates, no maps.
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

interface Dated {
  /** Unix ms, our clock. */
  readonly at: number
}

/** What an instrument's prices and sizes are counted in: the steps as written. */
export interface InstrumentGrids {
  readonly tick: string
  readonly lot: string
}

/** A run of the process began. Durable before anything else. */
export interface BootRecord extends Dated {
  readonly kind: 'boot'
  /** Unix ms, exchange clock: a first run reads fills from here. */
  readonly exchangeAt: number
  readonly epoch: number
  readonly version: string
  readonly environment: string
  readonly positionMode: PositionMode
  readonly configHash: string
  readonly strategies: readonly StrategyId[]
  /** By symbol. Where they are others than before, the book is converted. Absent in records of earlier versions. */
  readonly grids?: Readonly<Record<string, InstrumentGrids>>
}

/**
 * What a strategy's decision changed: what it wants now, and what it remembers. Where it wants nothing new, what it
 * remembers is written now and then.
 */
export interface DecisionRecord extends Dated {
  readonly kind: 'decision'
  readonly strategyId: StrategyId
  /** What the strategy remembers, as JSON text; absent when it is as it was. */
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
  /** What it was decided on; absent where no strategy decided. */
  readonly seen?: {
    readonly snapshot: number
    /** By symbol: of the instruments on which something changed. */
    readonly markets: Readonly<Record<string, SeenMarket>>
  }
}

/**
 * A ladder that changed: whole, or by what it keeps of the one before. `rungs` are in the order of the new ladder: a
 * level that is new, or the place, from 0, that a level had before. An empty ladder withdraws.
 */
export type LadderChange =
  | { readonly symbol: string; readonly levels: readonly QuoteLevel[] }
  | { readonly symbol: string; readonly rungs: readonly (QuoteLevel | number)[] }

/** Wishes that did not become orders, for whoever asks why. Changes nothing in the book. */
export interface DenialRecord extends Dated {
  readonly kind: 'denial'
  readonly strategyId: string
  readonly symbol: string
  readonly code: DenialCode
  readonly detail: string
  /** The key of a `place` intent. */
  readonly key?: string
  /** How many alike were denied at once, and since the last such record. */
  readonly orders: number
  readonly unlogged: number
}

/** A batch is about to leave. Durable before its first byte (ORD1). */
export interface SendRecord extends Dated {
  readonly kind: 'send'
  readonly batchId: number
  readonly symbol: string
  /** Orders that are sent for the first time. */
  readonly orders: readonly OrderTerms[]
  /** Orders that are sent again, unchanged. */
  readonly again: readonly ClientOid[]
  /** Unix ms, exchange clock as we know it, of the signature. */
  readonly requestAt: number
  /** The exact bytes. */
  readonly body: string
  /** What was known when the limiter granted the call, and how long the instrument had waited for it, ms. */
  readonly seen: { readonly snapshot: number; readonly market: SeenMarket; readonly waitedMs: number }
}

/** What is known of an item after an answer. `notSent`: not a byte left. */
export type ItemOutcomeKind = 'accepted' | 'exists' | 'rejected' | 'notSent' | 'unknown'

export interface ItemOutcome {
  readonly clientOid: ClientOid
  readonly outcome: ItemOutcomeKind
  readonly orderId?: OrderId
  /** Of an unknown item: its request was answered (a 429), so no copy of it is on its way. */
  readonly isAnswered?: boolean
  readonly code?: string
  readonly message?: string
}

/** The frame of an answer: what the envelope said of the call as a whole. */
export interface AnswerFacts {
  readonly kind: Answer<unknown>['kind']
  readonly code: string
  readonly status?: number
  /** Unix ms, exchange clock, where the envelope had it. */
  readonly requestTime?: number
}

export interface OutcomeRecord extends Dated {
  readonly kind: 'outcome'
  readonly batchId: number
  readonly items: readonly ItemOutcome[]
  /** The answer that said so; absent where it was found out otherwise. */
  readonly answer?: AnswerFacts
}

/** Fills not seen before, oldest first. */
export interface FillsRecord extends Dated {
  readonly kind: 'fills'
  readonly fills: readonly Fill[]
  /** Unix ms, exchange clock: a fill that is dated later has happened by then. Absent: none is. */
  readonly throughAt?: number
}

/** A cancel-all is about to leave. Durable before its first byte: what rested may not rest any more. */
export interface CancelRecord extends Dated {
  readonly kind: 'cancel'
  /** The instruments of ours that it touches: one, or all when it names the product type alone. */
  readonly symbols: readonly string[]
  /** Unix ms, exchange clock as we know it. */
  readonly requestAt: number
  readonly cause: string
}

/** A cancel-all was answered: what it says was resting. */
export interface CancelAnsweredRecord extends Dated {
  readonly kind: 'cancelAnswered'
  readonly listed: readonly { readonly clientOid: ClientOid; readonly orderId?: OrderId }[]
}

/** What evidence decided about orders of one instrument. */
export interface SettleRecord extends Dated {
  readonly kind: 'settle'
  readonly symbol: string
  /** Whether a resolution ended with this: no cancel-all of the symbol is out any more. */
  readonly isResolved: boolean
  readonly orders: readonly SettledOrder[]
}

export interface SettledOrder {
  readonly clientOid: ClientOid
  /** `queued`: to be sent again as it was · `released`: an operator has looked at a quarantined one. */
  readonly state: 'done' | 'absent' | 'quarantined' | 'queued' | 'released'
  /** An order id that fills revealed. */
  readonly orderId?: OrderId
  readonly reason: string
  /** What is placed again under the next generation of the key (ORD8). */
  readonly replacement?: OrderIntent
}

/** Waiting orders that will not be sent any more. `unknown` where an earlier copy may live. */
export interface ExpireRecord extends Dated {
  readonly kind: 'expire'
  readonly orders: readonly { readonly clientOid: ClientOid; readonly state: 'expired' | 'unknown' }[]
  /** Keys of waiting `place` intents that were dropped. */
  readonly places: readonly { readonly strategyId: string; readonly key: string }[]
  readonly reason: string
}

/** The exchange's position differs from what the fills say, and was adopted. */
export interface AdoptRecord extends Dated {
  readonly kind: 'adopt'
  readonly symbol: string
  readonly holding: Holding
  readonly was: Holding
}

/** The funding counter of a position moved. Decimal strings in the margin coin. */
export interface FundingRecord extends Dated {
  readonly kind: 'funding'
  readonly symbol: string
  readonly holdSide: HoldSide
  /** The counter as read; empty once the position is gone. */
  readonly counter: string
  /** What it moved by. */
  readonly change: string
}

/** A trading mode is held from now on. Durable before anything that follows from it. */
export interface RestrictedRecord extends Restriction {
  readonly kind: 'restricted'
}

/** It is not held any more: for this reason, or for all of the scope but a kill. */
export interface ReleasedRecord extends Dated {
  readonly kind: 'released'
  readonly scope: Scope
  readonly code?: ModeReason
  readonly reason: string
  readonly by: string
}

/** What ended long ago is forgotten. */
export interface PruneRecord extends Dated {
  readonly kind: 'prune'
  /** Unix ms, our clock: orders that ended before. */
  readonly ordersBefore: number
  /** Unix ms, exchange clock: trades of before. No fill is read from further back any more. */
  readonly tradesBefore: number
  /** Unix ms, exchange clock: every fill up to here is known. */
  readonly fillsThroughAt: number
  /** Unix ms, our clock: keys of before whose last order is terminal. */
  readonly keysBefore: number
}

/** Fills that no order of ours explains, after every order that could was asked. */
export interface ForeignRecord extends Dated {
  readonly kind: 'foreign'
  readonly symbol: string
  readonly orderIds: readonly OrderId[]
}

/** A call on the account is about to leave, for the first time or again. */
export interface CallRecord extends Dated {
  readonly kind: 'call'
  readonly strategyId: string
  readonly key: string
}

/** What became of it. */
export interface CallEndedRecord extends Dated {
  readonly kind: 'callEnded'
  readonly strategyId: string
  readonly key: string
  readonly outcome: 'accepted' | 'rejected' | 'expired'
  readonly reason: string
}

/**
 * What follows the records before this was lost with a damaged journal: any order may have been sent, filled
 * or cancelled since. Written by a repair, in the place of what was lost.
 */
export interface RepairedRecord extends Dated {
  readonly kind: 'repaired'
  /** Everything that may have been traded: each strategy with each of these instruments. */
  readonly strategies: readonly string[]
  readonly symbols: readonly string[]
  readonly reason: string
}

/** Fills and funding payments of before were written to a file, and taken out of the journal. */
export interface ArchivedRecord extends Dated {
  readonly kind: 'archived'
  /** Unix ms: those that are older. */
  readonly before: number
  readonly fills: number
  readonly fundings: number
  readonly file: string
}

/** Candles that have closed. */
export interface CandlesRecord extends Dated {
  readonly kind: 'candles'
  readonly symbol: string
  readonly intervalMs: number
  /** How many are kept; 0 forgets the series. */
  readonly capacity: number
  /** The oldest first. What is missing between them is filled flat. */
  readonly candles: readonly CandleRow[]
  /** Whether they take the place of those that are kept. */
  readonly isAnew?: boolean
}

/** From where losses are counted from now on. */
export interface WatermarkRecord extends Dated {
  readonly kind: 'watermark'
  readonly watermarks: readonly Watermark[]
}

/** A key of a strategy: it names one order for ever, or one call on the account. */
export interface StrategyKey {
  readonly purpose: 'place' | 'call'
  readonly strategyId: string
  readonly key: string
}

/** One that was used, and when: Unix ms, our clock. */
export interface UsedKey extends StrategyKey, Dated {}

/** The keys that a record has used: of orders that are sent by name, and of calls that were decided on. */
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
