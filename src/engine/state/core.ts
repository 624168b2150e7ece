import type { ClockRefusals } from '../../domain/answer.ts'
import type { OpenCandle } from '../../domain/candles.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import type { DenialState } from '../../domain/denial.ts'
import type { FeedId, FeedReading } from '../../domain/feed.ts'
import type { ClientOid, OrderId, StrategyId } from '../../domain/ids.ts'
import type { PositionMark } from '../../domain/own-trades.ts'
import type { OrderTerms } from '../../domain/order.ts'
import type { Holding, HoldingChange, HoldSide } from '../../domain/position.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import type { Scope } from '../../domain/trading-mode.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { GrantedEndpoint } from '../event.ts'
import type { ExitWatch } from '../../domain/exits.ts'
import type { Instrument, MarginMode } from '../../domain/instrument.ts'
import type { DisputeState, LossState } from '../../domain/loss-limits.ts'
import type { HourlyCloses, LiquidationState } from '../../domain/liquidation.ts'
import type { Reduction, WorstCaseState } from '../../domain/worst-case.ts'
import type { CauseName } from '../../execution/refusal-causes.ts'
import type { Recorded } from '../../domain/proofs.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { Failure } from '../../lib/failure.ts'
import { own } from '../../lib/own.ts'
import { applyRecord } from '../book/apply-record.ts'
import type { Book } from '../book/book.ts'
import { buildBookings, waitingFillsOf } from '../book/bookings.ts'
import { recountRecord, type RecountState } from '../book/recount.ts'
import type { Announcement, Effect } from '../effect.ts'
import type { EngineSettings } from '../settings.ts'
import {
  beginMoment,
  type ChangeState,
  concernedBy,
  forgetTotals,
  type KeptLadders,
  type KeptTotals,
  noteChanged,
} from './changes.ts'
import type { InstrumentStart, RunState } from './run-state.ts'
import { forgetSettled, type KeptSettled } from './settled-money.ts'

/**
 * Everything that the engine knows. The book is durable: the fold of the journal's records. Everything else is lost at
 * a restart, and may be. Each piece is changed by one file only, which its comment names.
 */
export interface Core {
  readonly settings: EngineSettings
  readonly book: Book
  /** Unix ms, our clock, of the event that is being handled. */
  readonly now: number
  /** What this step wants done, in order. */
  readonly effects: readonly Effect[]
  readonly clock: ClockState
  readonly market: MarketState
  readonly instruments: ReadonlyMap<string, InstrumentState>
  readonly calls: OpenCalls
  readonly readings: ReadingState
  readonly silence: SilenceState
  readonly decisions: DecisionState
  readonly denials: DenialState
  readonly names: NameState
  readonly unlisted: UnlistedState
  readonly candles: CandleState
  readonly losses: LossState
  readonly disputes: DisputeState
  readonly liquidation: LiquidationState
  /** By symbol: what the distance to a liquidation is held against. Changed by `liquidations.ts`. */
  readonly hours: ReadonlyMap<string, HourlyCloses>
  readonly worstCase: WorstCaseState
  /** Absent where no strategy has exits. Changed by `exits.ts`. */
  readonly exits?: ExitWatch
  /** The positions, by symbol, of which the daemon itself closes a part. Changed by `trading-mode.ts`. */
  readonly reductions: ReadonlyMap<string, Reduction>
  readonly recount: RecountState
  /** By strategy, instrument, kind and cause: what the exchange has refused, and may refuse again. Changed by `refusals.ts`. */
  readonly refusals: ReadonlyMap<string, Refusal>
  /** By kind of what is limited per minute: when it happened within the last one. Changed by `limit-pace.ts`. */
  readonly lastMinute: ReadonlyMap<string, readonly number[]>
  readonly run: RunState
  readonly changes: ChangeState
  /** Worked out from the book, so a recorded image of the core leaves it out. */
  readonly totals: KeptTotals
  /** The same of the money that instruments have settled. */
  readonly settled: KeptSettled
  /** The same: orders by their prices. */
  readonly ladders: KeptLadders
}

/** Whether the exchange knows names of orders that this state has not sent. Changed by `older-state.ts`. */
export interface NameState {
  /** Orders that were sent for the first time, and that the exchange calls duplicates: it is looked what became of them. */
  readonly suspected: ReadonlySet<ClientOid>
  /** By strategy and symbol, those that had such an order: when its request was sent, until one is accepted as new; Unix ms, exchange clock. */
  readonly suspectedWishes: ReadonlyMap<string, number>
  /** By instrument, when the last cancel-all left that may have been carried out and has listed nothing; Unix ms, exchange clock. */
  readonly unlistedAt: ReadonlyMap<string, number>
  /** Names that a cancel-all has listed and the book does not know; undefined: there are none. */
  readonly search: NameSearch | undefined
}

/** Whether orders from before the start may rest unknown. Changed by `unlisted-orders.ts`. */
export interface UnlistedState {
  /** Instruments on which a cancel-all is to list what rests, since a fill of nobody may be of such an order. */
  readonly symbols: ReadonlySet<string>
  /** By symbol: when the last cancel-all was signed after which nothing from before the start can rest. Unix ms, exchange clock. */
  readonly listedAt: ReadonlyMap<string, number>
}

export interface NameSearch {
  readonly names: ReadonlySet<string>
  /** Unix ms, our clock. */
  readonly since: number
  /** How far beyond the next ordinals names were derived. */
  readonly offset: number
}

/** What is known of the exchange's clock. Changed by `market-state.ts`. */
export interface ClockState {
  /** How far it is ahead of ours, ms; undefined before it was measured. */
  readonly offsetMs: number | undefined
  /** Unix ms, our clock, when that was last measured without contradiction. */
  readonly synchronisedAt: number
  /** Why it cannot be relied on since then; undefined: it can. */
  readonly unsynchronised: string | undefined
  /** How many batches in a row were refused for their time, with which code last, and until when none leaves; Unix ms, our clock. */
  readonly refusals: number
  readonly refused: string
  readonly refusedUntil: number
}

/** The last tickers and feeds, and how many snapshots were taken of them. Changed by `market-state.ts`. */
export interface MarketState {
  readonly tickers: TickerTable | undefined
  /** The number of the last snapshot that strategies were shown. */
  readonly snapshots: number
  /** The last reading of each feed. */
  readonly feeds: ReadonlyMap<FeedId, FeedReading>
  /** By symbol: what the last reading of the position in this run said beside its size. */
  readonly marks: ReadonlyMap<string, PositionMark>
  /** What the exchange lists, where a rule chooses among it; undefined before it was read. */
  readonly contracts: ReadonlyMap<string, ContractRules> | undefined
}

/**
 * At most one creating request of an instrument is on the wire, and nothing is placed on it between a cancel-all
 * and the readings that prove what happened meanwhile.
 *
 *     idle ──batch granted──► placing ──answered──► idle
 *      │                        (an unknown order) ──► resolving
 *      └──unwanted, unknown or missing orders, a command──► resolving ──proved──► idle
 *
 * A cancel-all of the whole product resolves every instrument with one call. One that is `placing` then is resolved
 * when its batch is answered: which of its orders the cancel-all met is not known.
 */
export type InstrumentPhase = 'idle' | 'placing' | 'resolving'

/** Changed by `instrument-state.ts`. */
export interface InstrumentState {
  readonly symbol: string
  readonly phase: InstrumentPhase
  /** Changed by `resolution/resolution.ts`. */
  readonly resolution: Resolution | undefined
  /** How many resolutions that cancel have begun in this run. */
  readonly cancelResolutions: number
  /** Unix ms, our clock, since when it has orders to send; undefined: it has none. */
  readonly wantsBatchSince: number | undefined
  readonly wantsReduce: boolean
  /** A cancel-all is due: no order that could rest is placed until it was granted, or is not due any more. */
  readonly wantsCancel: boolean
  /** Unix ms, our clock: until then a cancel-all that was never answered may still arrive, and a resolution does not end. */
  readonly lateCancelUntil: number
  /** Since when each resting order has been unwanted; Unix ms, our clock. */
  readonly unwantedSince: ReadonlyMap<ClientOid, number>
  /** Since when the market has been beyond the price of a resting order without a fill of it; Unix ms, our clock. */
  readonly crossedSince: ReadonlyMap<ClientOid, number>
  /** Wanted orders that a cancel-all took away and that do not rest again yet, the longest missing first. */
  readonly displaced: readonly DisplacedOrder[]
  /** Changed by `resolution/reconcile.ts`. */
  readonly position: PositionCheck
  /** Changed by `resolution/account-setup.ts`. */
  readonly setup: SetupCheck
  readonly start: InstrumentStart
}

/** Why an instrument is resolved. It decides which orders are placed again and what is logged. */
export type ResolutionCause =
  | 'unwanted'
  | 'unknown'
  | 'missing'
  | 'command'
  | 'restart'
  | 'released'
  | 'cancelledAlong'

/**
 * `waiting` until no unknown request can be accepted any more · `cancelling` until a cancel-all is answered ·
 * `settling` until fills and position were read late enough.
 */
export type ResolutionStage = 'waiting' | 'cancelling' | 'settling'

/** How what is unknown on an instrument becomes known. */
export interface Resolution {
  readonly cause: ResolutionCause
  readonly stage: ResolutionStage
  /** Whether a cancel-all is part of it. False where no order can rest, and only readings are waited for. */
  readonly cancels: boolean
  /** Unix ms, our clock: the cancel-all is not sent earlier. */
  readonly notBefore: number
  /** How many of its cancel-alls the exchange has refused for good, in a row, and what it said last. */
  readonly refusals: number
  readonly refusal: string
  /** Unix ms, exchange clock: no unknown order can be accepted later; 0: there is none. Judged only while the clocks are synchronised. */
  readonly acceptanceDeadlineAt: number
  /** Unix ms, our clock: after this the instrument is halted, and an operator must look. */
  readonly patientUntil: number
  /** Unix ms, our clock, since when the exchange has not answered what it waits for; undefined: it answers. */
  readonly silentSince: number | undefined
  /** Unix ms, our clock, when the cancel-all was answered, or the wait ended without one; 0 before. */
  readonly provedAt: number
  /** How many complete reads of the fills were asked for late enough, and when the last of them was asked for. */
  readonly fillsReads: number
  readonly fillsReadAt: number
  readonly positionRead: boolean
  /** When readings were last asked for, so that they are not asked for too often. */
  readonly askedAt: number
}

/** An order that has to be placed again after a cancel-all. */
export interface DisplacedOrder {
  readonly terms: OrderTerms
  /** Unix ms, our clock, when the cancel-all was answered. */
  readonly since: number
  /** Whether it was logged that it takes too long. */
  readonly isLateLogged: boolean
}

/** The lots that strategies lost because the exchange's position was believed. */
export interface WrittenOff {
  /** The position that the fills had explained. */
  readonly was: Holding
  readonly lost: ReadonlyMap<StrategyId, Holding>
  /** Unix ms, our clock: what the account holds has not changed since. */
  readonly movedAt: number
}

/** The exchange's position against the book's. */
export interface PositionCheck {
  /** Unix ms, our clock: the position of the exchange and the book agreed on a reading asked for then. */
  readonly agreedAt: number
  /** Unix ms, our clock: the newest reading was asked for then; it stands still while a difference is not explained. */
  readonly readAt: number
  readonly mismatch: Mismatch | undefined
  /** The last difference that was believed in this run, and what strategies lost by it. */
  readonly writtenOff: WrittenOff | undefined
  /** Unix ms, our clock, when a record of this run last changed what the account holds. */
  readonly movedAt: number
  /** Whether the last reading, asked for later than that, says what the book says now. */
  readonly isConfirmed: boolean
  /** The fills of the last minute, oldest first: a reading is compared with the book as it stood then. */
  readonly recentFills: readonly RecentFill[]
  /** A reading that waits until the fills of its moment are known. */
  readonly pending: PendingReading | undefined
}

/** What the rows of a position say of the account's settings. Whatever differs, or is right again, must be read twice. */
export interface SetupCheck {
  /** By setting: what the last reading that says it has found, and when that came; Unix ms, our clock. */
  readonly found: ReadonlyMap<string, { readonly verdict: string; readonly at: number }>
  /** The margin mode of the position that is held; undefined: none, or not known. */
  readonly marginMode: MarginMode | undefined
  /** The leverage that was believed last in this run; undefined: not known. */
  readonly leverage: string | undefined
}

/** A difference between the exchange's position and the book's that was seen once. The next reading confirms or drops it. */
export interface Mismatch {
  /** Exchange less book, in lots; either side may be negative. In one-way mode the long side is the net difference. */
  readonly difference: Holding
  /** Unix ms, our clock, when the reading that showed it was asked for. */
  readonly requestedAt: number
}

/** What a fill changed in the position, and when. */
export interface RecentFill {
  readonly change: HoldingChange
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

export interface PendingReading {
  readonly holding: Holding
  /** The funding counter of each side as text; empty where there is none. */
  readonly counters: Readonly<Record<HoldSide, string>>
  /** The answer held no data at all, which may mean that there is no position. */
  readonly isSilent: boolean
  readonly requestedAt: number
  readonly exchangeTime: number
}

/** A batch that is not answered yet. */
export interface OpenBatch {
  readonly symbol: string
  readonly clientOids: readonly ClientOid[]
}

/** A cancel-all that is not answered yet. */
export interface OpenCancel {
  /** The instruments of ours whose orders it takes away. */
  readonly symbols: readonly string[]
  /** Whether it names only the product type: then it cancels every order of it, also those that are not ours. */
  readonly takesProduct: boolean
  /** The instruments whose resolution has waited for this cancel-all: its answer proves that nothing rests there. */
  readonly resolves: readonly string[]
  /** Unix ms, exchange clock as we know it. */
  readonly requestAt: number
  /** How far ahead of ours the clock is that this time is from, ms, where the exchange has just refused what we know; else undefined. */
  readonly clockAheadMs: number | undefined
}

/** What was asked of the limiter or the exchange and has not come back, and how calls are paced. Changed by `open-calls.ts`. */
export interface OpenCalls {
  /** Endpoints for which a grant was asked for and has not come. */
  readonly asked: ReadonlySet<GrantedEndpoint>
  readonly batches: ReadonlyMap<number, OpenBatch>
  readonly cancels: ReadonlyMap<number, OpenCancel>
  /** The last cancel-all's number. */
  readonly cancelId: number
  /** What the exchange says to the time of cancel-alls. */
  readonly clockRefusals: ClockRefusals
  /** How many cancel-alls have cancelled an order so far. */
  readonly cancelsThatFound: number
  /** Calls on the account that place no order, by number: strategy and key. */
  readonly accountCalls: ReadonlyMap<number, string>
  readonly accountCallId: number
  /** By strategy and key: when a call that failed may be made again; Unix ms, our clock. */
  readonly accountCallsNotBefore: ReadonlyMap<string, number>
  /** By strategy, where orders per minute are limited: when its orders of the last minute left; Unix ms, our clock. */
  readonly sentAt: ReadonlyMap<StrategyId, readonly number[]>
}

/** How far the account has been read. Changed by `readings.ts`. */
export interface ReadingState {
  /** Unix ms, our clock: fills that were readable by then are known; 0: none were read yet. */
  readonly fillsReadAt: number
  /** Unix ms, our clock: the last complete reading of fills was asked for then; 0: there was none. */
  readonly fillsAskedAt: number
  /** Unix ms, exchange clock: fills that were readable by then are known. */
  readonly fillsReadThroughAt: number
  /** By orderId: fills that wait for their order. */
  readonly orphans: ReadonlyMap<OrderId, OrphanNote>
  /** Rows that could not be read, by name: `fill 77`, `position BTCUSDT`. */
  readonly unreadable: ReadonlyMap<string, UnreadableNote>
  /** Why the last reading failed, by what was read: `fills`, `position BTCUSDT`. A reading that comes forgets it. */
  readonly failures: ReadonlyMap<string, ReadFailure>
  /** Since when no answer to a read could be read at all, by its name: `fills`, `position BTCUSDT`; Unix ms, our clock. */
  readonly wholes: ReadonlyMap<string, number>
}

export interface ReadFailure {
  readonly reason: string
  /** The exchange would only refuse it again. */
  readonly isRefused: boolean
  /** It does not know the instrument any more. */
  readonly isRemoved?: boolean
}

/** Which calls of the account the exchange leaves without an answer, and what such a time has brought about. Changed by `silence.ts`. */
export interface SilenceState {
  /** Keyed by kind of call, `fills`, `position BTCUSDT`, `cancel-alls` or `orders BTCUSDT`: those whose last call had no answer. */
  readonly calls: ReadonlyMap<string, SilentCalls>
  /** From when it was logged that calls have no answer until everything that they left unknown is known. */
  readonly outage: Outage | undefined
}

export interface SilentCalls {
  /** Unix ms, our clock: the first of them failed then, and the last one. */
  readonly since: number
  readonly lastAt: number
  /** How many failed in a row. */
  readonly times: number
  /** What came instead of the last answer. */
  readonly reason: string
  /** Whether the last of them had left this machine, as far as that is known. */
  readonly hasLeft: boolean
}

export interface Outage {
  /** Unix ms, our clock: the first call without an answer. */
  readonly since: number
  /** By kind of call: how many had no answer. */
  readonly calls: ReadonlyMap<string, number>
  /** Orders that were unknown at some moment of it. */
  readonly unknown: ReadonlySet<ClientOid>
  /** What became of these, by the state that they have now. */
  readonly found: ReadonlyMap<string, number>
  readonly cancelled: number
  readonly fills: number
  /** Instruments on which it has yet to be proved what happened, and those on which it is. */
  readonly unproved: ReadonlySet<string>
  readonly proved: ReadonlySet<string>
}

/** Fills that wait for their order. */
export interface OrphanNote {
  readonly symbol: string
  /** Unix ms, our clock. */
  readonly since: number
  /** Whether it was logged that no answer explains them. */
  readonly isLogged: boolean
}

/** A row that cannot be read; see `resolution/unreadable.ts`. */
export interface UnreadableNote {
  /** Its instrument; `*` where it names none. */
  readonly symbol: Scope
  readonly problem: string
  /** Unix ms, our clock. */
  readonly since: number
  /** When it last came, Unix ms, our clock. */
  readonly seenAt: number
  /** For how long it has come so far, ms: time without answers does not count. */
  readonly lastedMs: number
  /** It stayed unreadable for too long: its instrument is halted for good, and it is waited for no more. */
  readonly isHalted: boolean
  /** One whole reading has come without it. */
  readonly isRead: boolean
}

/** On which snapshot each strategy decided, and which wishes wait until it decides again. Changed by `decision-state.ts`. */
export interface DecisionState {
  /** By strategy: the snapshot that it decided on last. */
  readonly decidedOn: ReadonlyMap<StrategyId, number>
  /** By strategy and then symbol: the snapshot (or a later one) that must be decided on before a filled or refused ladder is placed again. */
  readonly quoteHolds: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** By strategy: how many decisions in a row have failed. */
  readonly failuresInRow: ReadonlyMap<StrategyId, number>
  /** Standing wishes of a strategy are placed once it has decided on this snapshot or a later one. */
  readonly wishesFrom: number
  /** By strategy, once it has decided in this run: what it remembers; the state that has waited longest to be recorded first. */
  readonly states: ReadonlyMap<StrategyId, RememberedState>
}

/** Candles that have not closed, and strategies that are due because one has. Changed by `candles.ts`. */
export interface CandleState {
  /** What strategies need, by symbol and interval. */
  readonly needed: ReadonlyMap<string, NeededCandles>
  readonly open: ReadonlyMap<string, OpenCandle>
  /** When the first candle opened that was seen from its beginning; Unix ms, exchange clock. */
  readonly wholeFrom: ReadonlyMap<string, number>
  /** The strategies that decide on closed candles and have not been asked since one closed. */
  readonly due: ReadonlySet<StrategyId>
}

export interface NeededCandles {
  readonly symbol: string
  readonly intervalMs: number
  readonly capacity: number
  /** The strategies that decide when one of these closes. */
  readonly deciders: readonly StrategyId[]
}

export interface RememberedState {
  /** Plain data that nobody changes. */
  readonly state: unknown
  /** Unix ms, our clock, since when it has differed from the book's; undefined: the book has it. */
  readonly waitsSince: number | undefined
}

/** Orders that the exchange refuses for one cause. */
export interface Refusal {
  readonly strategyId: StrategyId
  readonly symbol: string
  /** What the orders do to the strategy's position; a flatten is a kind of its own. */
  readonly kind: 'opens' | 'reduces' | 'flatten'
  readonly cause: CauseName
  /** What the exchange said last. */
  readonly code: string
  readonly message: string
  /** Of the orders that were refused the one that asked for least. */
  readonly terms: OrderTerms
  /** Where a grid was missed: the step, in those of the configuration, on which all accepted orders lie; 0: there were none. */
  readonly commonStep: number
  /** How many orders that it concerns were accepted in a row since. */
  readonly accepted: number
  /** Unix ms, our clock: the first and the last refusal. */
  readonly firstAt: number
  readonly at: number
  /** How many answers in a row were such refusals, and of how many orders. */
  readonly inRow: number
  readonly orders: number
  /** Whether an operator was alerted. */
  readonly isLogged: boolean
}

/** Begins a step at an instant of our clock, with no effects yet. */
export function beginStep(core: Core, now: number): void {
  const state = own(core)
  state.now = now
  state.effects = NO_EFFECTS
}

const NO_EFFECTS: Effect[] = Object.freeze<Effect[]>([]) as Effect[] // most steps have none

/** Adds an effect behind those that this step has so far. */
export function emit(core: Core, effect: Effect): void {
  if (core.effects === NO_EFFECTS) own(core).effects = [effect]
  else own(core.effects).push(effect)
}

/**
 * The one way to change the book: the record is written to the journal and applied to the book. With `durable` nothing
 * that follows in this step is sent before the record is safe on the disk.
 */
export function record(core: Core, entry: JournalRecord, durable = false): void {
  const waiting = waitingFillsOf(core.book, entry)
  noteConcerned(core, entry)
  applyRecord(core.book, entry)
  recountRecord(core.recount, entry, core.book)
  const bookings = buildBookings(entry, {
    book: core.book,
    instruments: core.settings.instruments,
    waiting,
  })
  emit(core, { kind: 'record', record: entry, durable, ...(bookings.length > 0 && { bookings }) })
}

function noteConcerned(core: Core, entry: JournalRecord): void {
  const { book, changes, totals, instruments, settled } = core
  for (const symbol of concernedBy(book, entry) ?? instruments.keys()) {
    noteChanged(changes, symbol)
    forgetTotals(totals, symbol)
  }
  // The limits of the account count all instruments: a change of one matters to the others.
  if (CHANGE_NO_LIMIT.has(entry.kind)) return
  beginMoment(changes)
  forgetSettled(settled)
}

/** Records that change nothing which matters to other instruments, and move no money. */
const CHANGE_NO_LIMIT = new Set<JournalRecord['kind']>([
  'decision',
  'denial',
  'candles',
  'watermark',
  'exits',
])

/** Records what is about to be sent. Only this function makes a `Recorded`, and nothing else can be sent (ORD1). */
export function recordBefore<Outgoing>(
  core: Core,
  entry: JournalRecord,
  outgoing: Outgoing,
): Recorded<Outgoing> {
  record(core, entry, true)
  return outgoing as Recorded<Outgoing>
}

/** A line of the log. */
export function announce(
  core: Core,
  level: Announcement['level'],
  event: LogEvent,
  fields: Readonly<Record<string, unknown>>,
): void {
  emit(core, { kind: 'announce', level, event, fields })
}

/** The exchange's specification of an instrument. @throws Failure for a symbol that the config does not list. */
export function specOf(core: Core, symbol: string): Instrument {
  return known(core.settings.instruments.get(symbol), symbol)
}

/** @throws Failure for a symbol that the config does not list: the driver never lets one in. */
export function instrumentOf(core: Core, symbol: string): InstrumentState {
  return known(core.instruments.get(symbol), symbol)
}

function known<Value>(value: Value | undefined, symbol: string): Value {
  if (value !== undefined) return value
  throw new Failure({ code: 'ENGINE_INSTRUMENT_UNKNOWN', sentence: `no instrument ${symbol}` })
}
