import { type OpenCandle } from '../../domain/candles.ts'
import { type DenialCode } from '../../domain/denial.ts'
import { type FeedId, type FeedReading } from '../../domain/feed.ts'
import { type ClientOid, type OrderId, type StrategyId } from '../../domain/ids.ts'
import { type PositionMark } from '../../domain/own-trades.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { type Holding, type HoldingChange, type HoldSide } from '../../domain/position.ts'
import { type LogEvent } from '../../domain/log-events.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { type GrantedEndpoint } from '../event.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { type LossState } from '../../domain/loss-limits.ts'
import { type Recorded } from '../../domain/proofs.ts'
import { type JournalRecord } from '../../domain/record.ts'
import { Failure } from '../../lib/failure.ts'
import { own } from '../../lib/own.ts'
import { applyRecord } from '../book/apply-record.ts'
import { type Book } from '../book/book.ts'
import { buildBookings, waitingFillsOf } from '../book/bookings.ts'
import { recountRecord, type RecountState } from '../book/recount.ts'
import { type Announcement, type Effect } from '../effect.ts'
import { type EngineSettings } from '../settings.ts'
import { beginMoment, type ChangeState, concernedBy, noteChanged } from './changes.ts'
import { type InstrumentStart, type RunState } from './run-state.ts'
import { forgetTotals, type KeptTotals } from './totals.ts'

/**
 * Everything that the engine knows. The book is durable: the fold of the journal's records. Everything else may be
 * lost at any moment, and is at a restart. Each piece is changed by one file only, which its comment names.
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
  readonly decisions: DecisionState
  readonly denials: DenialState
  readonly candles: CandleState
  readonly losses: LossState
  readonly recount: RecountState
  /** By what is limited within a minute: when it happened. Changed by `limit-pace.ts`. */
  readonly lastMinute: ReadonlyMap<string, readonly number[]>
  readonly run: RunState
  readonly changes: ChangeState
  /** Follows from the book: no image of the core holds it. */
  readonly totals: KeptTotals
}

/** What is known of the exchange's clock. Changed by `clock-state.ts`. */
export interface ClockState {
  /** How far it is ahead of ours, ms; undefined before it was measured. */
  readonly offsetMs: number | undefined
  /** Unix ms, our clock, when that was last measured for certain. */
  readonly synchronisedAt: number
  /** Why it is not to be relied on since. */
  readonly unsynchronised: string | undefined
}

/** The last tickers and feeds, and how many snapshots were taken of them. Changed by `market-state.ts`. */
export interface MarketState {
  readonly tickers: TickerTable | undefined
  /** Numbers the snapshots that strategies are shown. */
  readonly snapshots: number
  /** The last reading of each feed. */
  readonly feeds: ReadonlyMap<FeedId, FeedReading>
  /** By symbol: what the last position said that was read in this run. */
  readonly marks: ReadonlyMap<string, PositionMark>
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
  /** How many resolutions that cancel have begun. */
  readonly cancelResolutions: number
  /** Unix ms, our clock, since when it has something to send; undefined when not. */
  readonly wantsBatchSince: number | undefined
  readonly wantsReduce: boolean
  /** A cancel-all is due: nothing that could rest is placed until it was granted, or is not due any more. */
  readonly wantsCancel: boolean
  /** Unix ms, our clock: until then a cancel-all that was never answered may arrive; a resolution goes on. */
  readonly lateCancelUntil: number
  /** Since when each order rests that nobody wants; Unix ms, our clock. */
  readonly unwantedSince: ReadonlyMap<ClientOid, number>
  /** Since when an order stands through the market without a fill; Unix ms, our clock. */
  readonly crossedSince: ReadonlyMap<ClientOid, number>
  /** Wanted orders that a cancel-all took away and that do not rest again yet, the longest missing first. */
  readonly displaced: readonly DisplacedOrder[]
  /** Changed by `resolution/reconcile.ts`. */
  readonly position: PositionCheck
  readonly start: InstrumentStart
}

/** Why an instrument is resolved: it decides what is placed again and what is logged. */
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
  /** False when nothing can rest: there is nothing to cancel, though there may be something to wait for. */
  readonly cancels: boolean
  /** Unix ms, our clock: the cancel-all is not sent earlier. */
  readonly notBefore: number
  /** Unix ms, exchange clock, which must be synchronised then: no request of an unknown order is accepted later. 0 for none. */
  readonly acceptanceDeadlineAt: number
  /** Unix ms, our clock: after this somebody must look. */
  readonly patientUntil: number
  /** Unix ms, our clock, when the cancel-all was answered, or the wait ended; 0 before. */
  readonly provedAt: number
  /** Complete reads of the fills that were asked for late enough, and when the last of them was. */
  readonly fillsReads: number
  readonly fillsReadAt: number
  readonly positionRead: boolean
  /** Reads asked for, to space repeated asks. */
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

/** The exchange's position against the book's. */
export interface PositionCheck {
  /** Unix ms, our clock: the position of the exchange and the book agreed on a reading asked for then. */
  readonly agreedAt: number
  readonly mismatch: Mismatch | undefined
  /** The fills of the last minute, oldest first: a reading is compared with the book as it stood then. */
  readonly recentFills: readonly RecentFill[]
  /** A reading that waits for the fills that it must be compared with. */
  readonly pending: PendingReading | undefined
}

/** By how much the exchange's position differs from the book's, seen once: the next reading decides. */
export interface Mismatch {
  /** Lots, either may be negative; in one-way mode the net difference is the long one. */
  readonly difference: Holding
  /** Unix ms, our clock, when the reading that showed it was asked for. */
  readonly requestedAt: number
}

/** A fill as far as the position knows it. */
export interface RecentFill {
  readonly change: HoldingChange
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

export interface PendingReading {
  readonly holding: Holding
  /** What the funding counter of each side says; empty where there is none. */
  readonly counters: Readonly<Record<HoldSide, string>>
  /** The answer said nothing at all, which may mean flat. */
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
  /** The instruments of ours that it touches. */
  readonly symbols: readonly string[]
  /** Whether it names the product type alone, and takes what is not ours too. */
  readonly takesProduct: boolean
  /** The instruments whose resolution this is the cancel-all of: its answer is their proof. */
  readonly resolves: readonly string[]
  /** Unix ms, exchange clock as we know it. */
  readonly requestAt: number
}

/** Everything that was asked of the limiter or the exchange and has not come back. Changed by `open-calls.ts`. */
export interface OpenCalls {
  /** Endpoints for which a grant was asked and has not come. */
  readonly asked: ReadonlySet<GrantedEndpoint>
  readonly batches: ReadonlyMap<number, OpenBatch>
  readonly cancels: ReadonlyMap<number, OpenCancel>
  /** The last cancel-all's number. */
  readonly cancelId: number
  /** How many cancel-alls have found something so far. */
  readonly cancelsThatFound: number
  /** Calls on the account that place no order, by number: strategy and key. */
  readonly accountCalls: ReadonlyMap<number, string>
  readonly accountCallId: number
  /** By strategy and key: when a call that failed may be made again; Unix ms, our clock. */
  readonly accountCallsNotBefore: ReadonlyMap<string, number>
  /** By strategy, where pace is limited: when orders have left within a minute; Unix ms, our clock. */
  readonly sentAt: ReadonlyMap<StrategyId, readonly number[]>
}

/** How far the account has been read. Changed by `readings.ts`. */
export interface ReadingState {
  /** Unix ms, our clock: fills that were readable by then are known. 0 never. */
  readonly fillsReadAt: number
  /** The same on the exchange's clock. */
  readonly fillsReadThroughAt: number
  /** Since when fills of each orderId wait for their order; Unix ms, our clock. */
  readonly orphansSince: ReadonlyMap<OrderId, number>
  /** Rows that cannot be read, by what they are of. */
  readonly unreadable: ReadonlyMap<string, UnreadableNote>
}

/** Seen twice, its instrument is halted; after a release it is known, and halts no more in this run. */
export interface UnreadableNote {
  readonly symbol: string
  readonly isHalted: boolean
}

/** What strategies decided on, and what has to wait until they look again. Changed by `decision-state.ts`. */
export interface DecisionState {
  /** By strategy: the snapshot that it decided on last. */
  readonly decidedOn: ReadonlyMap<StrategyId, number>
  /** By strategy, and there by symbol: a ladder that was filled or refused waits for a decision on this snapshot. */
  readonly quoteHolds: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** By strategy: decisions that failed one after the other. */
  readonly failuresInRow: ReadonlyMap<StrategyId, number>
  /** Standing wishes of a strategy are placed once it has decided on this snapshot or a later one. */
  readonly wishesFrom: number
  /** By strategy: what it remembers since it has decided in this run, the longest waiting first. */
  readonly states: ReadonlyMap<StrategyId, RememberedState>
  /** By strategy, symbol and purpose: the last refusal by the exchange, and how many came one after the other. */
  readonly refusals: ReadonlyMap<string, Refusal>
}

/** Candles that have not closed, and who waits for one that has. Changed by `candles.ts`. */
export interface CandleState {
  /** What strategies need, by symbol and interval. */
  readonly needed: ReadonlyMap<string, NeededCandles>
  readonly open: ReadonlyMap<string, OpenCandle>
  /** Where the first candle opens that was seen from its beginning; Unix ms, exchange clock. */
  readonly wholeFrom: ReadonlyMap<string, number>
  /** The strategies that decide on closed candles, have not been asked since one closed. */
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
  /** Unix ms, our clock, since when the book may have another; undefined where it has this one. */
  readonly waitsSince: number | undefined
}

export interface Refusal {
  /** Unix ms, our clock. */
  readonly at: number
  readonly inRow: number
  readonly isOfPrice: boolean
}

/** What was denied in this run, and logged. Changed by `denials.ts`. */
export interface DenialState {
  /** How often each code was given in this run. */
  readonly counts: ReadonlyMap<DenialCode, number>
  /** By instrument, and there by strategy, code and key: what was logged, the longest ago first. */
  readonly logged: ReadonlyMap<string, ReadonlyMap<string, LoggedDenial>>
  /** By instrument, strategy and code: the keys that are named in this minute, which began then (Unix ms, our clock). */
  readonly named: ReadonlyMap<string, { readonly since: number; readonly keys: ReadonlySet<string> }>
}

export interface LoggedDenial {
  /** Unix ms, our clock. */
  readonly loggedAt: number
  /** The snapshot for which it was counted last. */
  readonly snapshot: number
  /** How many came since it was logged. */
  readonly unlogged: number
}

/** An event comes in at an instant of our clock: nothing is wanted yet. */
export function beginStep(core: Core, now: number): void {
  const state = own(core)
  state.now = now
  state.effects = NO_EFFECTS
}

const NO_EFFECTS: Effect[] = Object.freeze<Effect[]>([]) as Effect[] // most steps want nothing done

/** Wants something done, after everything that this step has wanted so far. */
export function emit(core: Core, effect: Effect): void {
  if (core.effects === NO_EFFECTS) own(core).effects = [effect]
  else own(core.effects).push(effect)
}

/**
 * The one way to change the book: the record goes to the journal and into the fold. With `durable` nothing
 * that follows in this step is sent before the record would survive the process.
 */
export function record(core: Core, entry: JournalRecord, durable = false): void {
  const waiting = waitingFillsOf(core.book, entry)
  noteConcerned(core, entry)
  applyRecord(core.book, entry)
  recountRecord(core.recount, entry, core.book)
  const bookings = buildBookings(entry, { book: core.book, instruments: core.settings.instruments, waiting })
  emit(core, { kind: 'record', record: entry, durable, ...(bookings.length > 0 && { bookings }) })
}

function noteConcerned({ book, changes, totals, instruments }: Core, entry: JournalRecord): void {
  for (const symbol of concernedBy(book, entry) ?? instruments.keys()) {
    noteChanged(changes, symbol)
    forgetTotals(totals, symbol)
  }
  // What one instrument may come to hold decides what the others may.
  if (!CHANGE_NO_LIMIT.has(entry.kind)) beginMoment(changes)
}

/** They change nothing that an instrument has in common with the others. */
const CHANGE_NO_LIMIT: ReadonlySet<JournalRecord['kind']> = new Set([
  'decision',
  'denial',
  'candles',
  'watermark',
])

/** Writes down what is about to leave. The one function that makes a `Recorded`: nothing else can be sent (ORD1). */
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
