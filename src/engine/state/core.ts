import type { ClockRefusals } from '../../domain/answer.ts'
import type { OpenCandle } from '../../domain/candles.ts'
import type { DenialState } from '../../domain/denial.ts'
import type { FeedId, FeedReading } from '../../domain/feed.ts'
import type {
  ClientOid,
  OrderId,
  StrategyId,
  InstrumentSymbol,
  SymbolAndInterval,
  StrategyAndSymbol,
  StrategyAndKey,
} from '../../domain/ids.ts'
import type { PositionMark } from '../../domain/own-trades.ts'
import type { OrderTerms } from '../../domain/order.ts'
import type { Holding, HoldingChange, HoldSide } from '../../domain/position.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import type { Scope } from '../../domain/trading-mode.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { FundingWatch } from '../../domain/unseen-funding.ts'
import type { UniverseRefusal } from '../../domain/universe.ts'
import type { GrantedEndpoint } from '../event.ts'
import type { ExitWatch, KeptExitsWatch } from '../../domain/exits.ts'
import type { Instrument, MarginMode } from '../../domain/instrument.ts'
import type { DisputeState, LossState } from '../../domain/loss-limits.ts'
import type { HourlyCloses, LiquidationState } from '../../domain/liquidation.ts'
import type { Reduction, WorstCaseState } from '../../domain/worst-case.ts'
import type { CauseName } from '../../execution/refusal-causes.ts'
import type { Recorded } from '../../domain/proofs.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { Failure } from '../../lib/failure.ts'
import { mutable } from '../../lib/mutable.ts'
import type { HeardContracts } from '../../market/believe-contracts.ts'
import { applyRecord } from '../book/apply-record.ts'
import type { Book } from '../book/book.ts'
import { buildBookings, waitingFillsOf } from '../book/bookings.ts'
import { recountRecord, type RecountState } from '../book/recount.ts'
import type { Announcement, Effect } from '../effect.ts'
import type { EngineSettings } from '../settings.ts'
import { type ChangeState, noteRecord } from './changes.ts'
import type { KeptSettled, KeptTotals, KeptLadders } from './totals.ts'
import type { InstrumentStart, RunState } from './run-state.ts'

/**
 * Everything that the engine knows; only the book survives a restart. The comment on each piece
 * names the one file that changes it.
 *
 * Instants (`…At`, `since`, `until`) are Unix ms of our clock, and 0 means never, unless a comment
 * says that they are of the exchange's clock.
 */
export interface Core {
  readonly settings: EngineSettings
  readonly book: Book
  readonly now: number
  readonly effects: readonly Effect[]
  readonly clock: ClockState
  readonly market: MarketReadings
  readonly instruments: ReadonlyMap<InstrumentSymbol, InstrumentState>
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
  /** Hourly closes of the price. Changed by `liquidations.ts`. */
  readonly hours: ReadonlyMap<InstrumentSymbol, HourlyCloses>
  readonly worstCase: WorstCaseState
  /** Changed by `unseen-funding.ts`. */
  readonly funding: ReadonlyMap<InstrumentSymbol, FundingWatch>
  /** Absent if no strategy has exits. Changed by `exits.ts`. */
  readonly exits?: ExitWatch
  /** Absent if exits at the exchange are not listed. Changed by `kept-exits.ts`. */
  readonly keptExits?: ReadonlyMap<InstrumentSymbol, KeptExitsWatch>
  /**
   * Keyed by strategy, symbol and side: ordered exits that do not stand, as logged. Changed by
   * `kept-exits.ts`.
   */
  readonly unkeptExits: ReadonlySet<string>
  /** Positions that the daemon itself closes in part. Changed by `trading-mode.ts`. */
  readonly reductions: ReadonlyMap<InstrumentSymbol, Reduction>
  readonly recount: RecountState
  /** Keyed by strategy, instrument, kind and cause. Changed by `refusals.ts`. */
  readonly refusals: ReadonlyMap<string, OrderRefusal>
  /** Keyed by kind: the events of the last minute. Changed by `limit-pace.ts`. */
  readonly lastMinute: ReadonlyMap<string, readonly number[]>
  readonly run: RunState
  readonly changes: ChangeState
  /** This and the next two follow from the book, so an image of the core leaves them out. */
  readonly totals: KeptTotals
  readonly settled: KeptSettled
  readonly ladders: KeptLadders
  /** Changed by `roster.ts`. */
  readonly universeRefusals: ReadonlyMap<StrategyId, UniverseRefusal>
}

/** Names that the exchange knows but this state has not sent. Changed by `older-state.ts`. */
export interface NameState {
  /** The exchange called these duplicates, although they were sent for the first time. */
  readonly suspected: ReadonlySet<ClientOid>
  /** When a suspected name was sent, until an order of the same wish is accepted as new. */
  readonly suspectedWishes: ReadonlyMap<StrategyAndSymbol, number>
  /** Exchange clock: the last cancel-all that may have been carried out, but listed nothing. */
  readonly unlistedAt: ReadonlyMap<InstrumentSymbol, number>
  /** Names that a cancel-all listed and the book does not know. */
  readonly search: NameSearch | undefined
}

/** Instruments on which unknown orders from before the start may rest. Changed by `readings.ts`. */
export interface UnlistedState {
  /** A fill without an owner may be of such an order, so a cancel-all is to list what rests. */
  readonly symbols: ReadonlySet<string>
  /** A cancel-all has listed what rests: nothing from before the start does any more. */
  readonly listed: ReadonlySet<InstrumentSymbol>
}

export interface NameSearch {
  readonly names: ReadonlySet<string>
  readonly since: number
  /** So many ordinals beyond the next one were tried. */
  readonly offset: number
}

/** Changed by `market-state.ts`. */
export interface ClockState {
  /** Exchange clock less ours; undefined until it is measured. */
  readonly offsetMs: number | undefined
  /** The first one of this run by signed answers; until then, the last one by public answers. */
  readonly firstOffsetMs: number | undefined
  /** The last measurement that contradicted none. */
  readonly synchronisedAt: number
  /** Why the clock cannot be relied on. */
  readonly unsynchronised: string | undefined
  /** Batches in a row that were refused for their time. */
  readonly refusals: number
  /** The code of the last refusal. */
  readonly refused: string
  /** No batch leaves before this. */
  readonly refusedUntil: number
}

/** The last tickers and feeds. Changed by `market-state.ts`. */
export interface MarketReadings {
  readonly tickers: TickerTable | undefined
  readonly snapshots: number
  readonly feeds: ReadonlyMap<FeedId, FeedReading>
  /** From this run's last reading. */
  readonly marks: ReadonlyMap<InstrumentSymbol, PositionMark>
  readonly contracts: HeardContracts | undefined
}

/**
 * ARCHITECTURE.md says what each phase is for (The core).
 *
 *     idle ──batch granted──► placing ──answered──► idle
 *      │                        (an unknown order) ──► resolving
 *      └──unwanted, unknown or missing orders, a command──► resolving ──proved──► idle
 *
 * A cancel-all of the whole product resolves every instrument, one that is `placing` once its batch
 * is answered.
 */
export type InstrumentPhase = 'idle' | 'placing' | 'resolving'

/** Changed by `instrument-state.ts`. */
export interface InstrumentState {
  readonly symbol: string
  readonly phase: InstrumentPhase
  /** Changed by `resolution/resolution.ts`. */
  readonly resolution: Resolution | undefined
  /** Resolutions of this run that cancel. */
  readonly cancelResolutions: number
  /** Undefined while it has no orders to send. */
  readonly wantsBatchSince: number | undefined
  readonly wantsReduce: boolean
  /** While a cancel-all is due and not granted, no order that could rest is placed. */
  readonly wantsCancel: boolean
  /** A cancel-all without an answer may arrive until then, so no resolution ends. */
  readonly lateCancelUntil: number
  readonly unwantedSince: ReadonlyMap<ClientOid, number>
  /** The market is beyond these resting orders, and no fill of them was read. */
  readonly crossedSince: ReadonlyMap<ClientOid, number>
  /** Wanted orders that a cancel-all took away, the longest missing first. */
  readonly displaced: readonly DisplacedOrder[]
  /** Changed by `resolution/reconcile.ts`. */
  readonly position: PositionCheck
  /** Changed by `resolution/check-setup.ts`. */
  readonly setup: SetupCheck
  readonly start: InstrumentStart
}

/**
 * The cause decides which orders are placed again, and what is logged. `restart`: a start cancels,
 * or the run before may have. Orders that a crash left in flight are `unknown`.
 */
export type ResolutionCause =
  | 'unwanted'
  | 'unknown'
  | 'missing'
  | 'command'
  | 'restart'
  | 'released'
  | 'cancelledAlong'

/** The stages and what ends them are drawn above `startResolution`. */
export type ResolutionStage = 'waiting' | 'cancelling' | 'settling'

export interface Resolution {
  readonly cause: ResolutionCause
  readonly stage: ResolutionStage
  /** False where no order can rest: then only readings are awaited. */
  readonly cancels: boolean
  /** The cancel-all is not sent earlier. */
  readonly notBefore: number
  /** Cancel-alls in a row that were refused for good, and the last answer. */
  readonly refusals: number
  readonly refusal: string
  /** Exchange clock: no unknown order can be accepted later. 0: no order is unknown. */
  readonly acceptanceDeadlineAt: number
  /** After this the instrument is halted, and an operator must look. */
  readonly patientUntil: number
  /** Undefined while the exchange answers. */
  readonly silentSince: number | undefined
  /** When the cancel-all was answered, or the wait ended without one. */
  readonly settlingSince: number
  /** Complete readings that were asked for late enough, and the last of them. */
  readonly fillsReads: number
  readonly fillsAskedAt: number
  readonly positionRead: boolean
  readonly askedAt: number
}

export interface DisplacedOrder {
  readonly terms: OrderTerms
  /** When the cancel-all was answered. */
  readonly since: number
  readonly isLateLogged: boolean
}

/** Lots that strategies lost because the exchange's position was believed. */
export interface WriteOff {
  /** The position that the fills had explained before. */
  readonly was: Holding
  readonly lost: ReadonlyMap<StrategyId, Holding>
  /** When the adoption changed the holding: after a later change nothing is given back. */
  readonly movedAt: number
}

export interface PositionCheck {
  /** When the last reading that agreed was asked for. */
  readonly agreedAt: number
  /** When the newest reading was asked for. It stands still while a difference is unexplained. */
  readonly readAt: number
  /** When that reading came, which is long after it was asked for where the exchange is slow. */
  readonly heardAt: number
  readonly mismatch: Mismatch | undefined
  /** The last one of this run. */
  readonly writtenOff: WriteOff | undefined
  /** When a record of this run last changed the holding. */
  readonly movedAt: number
  /** The last reading was asked for after `movedAt`, and agrees. */
  readonly isConfirmed: boolean
  /** Oldest first: a reading is compared with the book of its time. */
  readonly recentFills: readonly PositionFill[]
  /** This reading waits until the fills of its time are known. */
  readonly pending: PendingReading | undefined
}

/** The account's settings, as position rows state them. A change must be read twice. */
export interface SetupCheck {
  /** Keyed by setting. */
  readonly found: ReadonlyMap<string, { readonly verdict: string; readonly at: number }>
  /** The mode of the held position; undefined without one, or while it is unknown. */
  readonly marginMode: MarginMode | undefined
  /** The mode that the last batch named. */
  readonly sentMode: MarginMode | undefined
  /** The exchange refused the last batch of this mode, because something is held. */
  readonly refusedMode: MarginMode | undefined
  /** The leverage that was believed last in this run. */
  readonly leverage: string | undefined
}

/** A difference that was seen once; the next reading confirms or drops it. */
export interface Mismatch {
  /** Exchange less book, lots, signed. In one-way mode the long side is the net difference. */
  readonly difference: Holding
  readonly requestedAt: number
}

export interface PositionFill {
  readonly change: HoldingChange
  /** Exchange clock. */
  readonly filledAt: number
}

export interface PendingReading {
  readonly holding: Holding
  /** The counters of funding; empty where none is stated. */
  readonly counters: Readonly<Record<HoldSide, string>>
  /** The answer has no data at all, which may mean no position. */
  readonly isSilent: boolean
  readonly requestedAt: number
  /** Exchange clock. */
  readonly exchangeTime: number
}

export interface OpenBatch {
  readonly symbol: string
  readonly clientOids: readonly ClientOid[]
}

export interface OpenCancel {
  readonly symbols: readonly string[]
  /** Only the product type is named: it cancels every order, also others'. */
  readonly takesProduct: boolean
  /** Its answer proves to waiting resolutions that nothing rests there. */
  readonly resolves: readonly string[]
  /** The exchange's clock as we know it. */
  readonly requestAt: number
  /** How far the exchange's clock is ahead of ours, as stated when it refused our time. */
  readonly clockAheadMs: number | undefined
}

/** Calls and grants that were not answered yet, and the pace. Changed by `open-calls.ts`. */
export interface OpenCalls {
  readonly asked: ReadonlySet<GrantedEndpoint>
  readonly batches: ReadonlyMap<number, OpenBatch>
  readonly cancels: ReadonlyMap<number, OpenCancel>
  readonly cancelId: number
  /** Cancel-alls that were refused for their time. */
  readonly clockRefusals: ClockRefusals
  readonly cancelsThatFound: number
  /** Calls that place no order. */
  readonly accountCalls: ReadonlyMap<number, StrategyAndKey>
  readonly accountCallId: number
  readonly accountCallsNotBefore: ReadonlyMap<StrategyAndKey, number>
  /** Orders of the last minute, where they are limited. */
  readonly sentAt: ReadonlyMap<StrategyId, readonly number[]>
}

/** How far the account has been read. Changed by `readings.ts`. */
export interface ReadingState {
  /** Fills that could be read by then are known. */
  readonly fillsKnownUntil: number
  /** When the last complete reading of fills was asked for. */
  readonly fillsAskedAt: number
  /** As `fillsKnownUntil`, by the exchange's clock. */
  readonly fillsReadThroughAt: number
  /** Fills that wait for their order. */
  readonly orphans: ReadonlyMap<OrderId, OrphanNote>
  /** Keyed by name: `fill 77`, `position BTCUSDT`. */
  readonly unreadable: ReadonlyMap<string, UnreadableNote>
  /** Keyed by reading: `fills`, `position BTCUSDT`. */
  readonly failures: ReadonlyMap<string, ReadFailure>
  /** Keyed by name: since when no answer could be read at all. */
  readonly wholes: ReadonlyMap<string, number>
}

export interface ReadFailure {
  readonly reason: string
  /** The exchange would refuse it again. */
  readonly isRefused: boolean
  /** The exchange does not know the instrument any more. */
  readonly isRemoved?: boolean
}

/** Calls without an answer, and the consequences. Changed by `silence.ts`. */
export interface SilenceState {
  /** Keyed by kind of call: `fills`, `position BTCUSDT`, `cancel-alls` or `orders BTCUSDT`. */
  readonly calls: ReadonlyMap<string, SilentCalls>
  /** An outage lasts from its log line until everything that it left unknown is known. */
  readonly outage: ExchangeOutage | undefined
}

export interface SilentCalls {
  /** The first failure and the last. */
  readonly since: number
  readonly lastAt: number
  readonly times: number
  /** The error in place of the last answer. */
  readonly reason: string
  /** The last call had left this machine, as far as known. */
  readonly hasLeft: boolean
}

export interface ExchangeOutage {
  /** The first call without an answer. */
  readonly since: number
  readonly calls: ReadonlyMap<string, number>
  readonly unknown: ReadonlySet<ClientOid>
  /** How many of the unknown orders are in each state now. */
  readonly found: ReadonlyMap<string, number>
  readonly cancelled: number
  readonly fills: number
  readonly unproved: ReadonlySet<string>
  readonly proved: ReadonlySet<string>
}

export interface OrphanNote {
  readonly symbol: string
  readonly since: number
  /** It was logged that no answer explains them. */
  readonly isLogged: boolean
}

/** See `resolution/unreadable.ts`. */
export interface UnreadableNote {
  /** `*` if the row names no instrument. */
  readonly symbol: Scope
  readonly problem: string
  readonly since: number
  /** When the row last came. */
  readonly seenAt: number
  /** Without the time in which no answers came. */
  readonly lastedMs: number
  /** The row was unreadable for too long: the instrument is halted for good, and not awaited. */
  readonly isHalted: boolean
  /** One whole reading has come without the row. */
  readonly isRead: boolean
}

/** Decisions of strategies, and wishes that wait for one. Changed by `decision-state.ts`. */
export interface DecisionState {
  readonly decidedOn: ReadonlyMap<StrategyId, number>
  /**
   * Keyed by strategy. A ladder that was filled or refused is placed again once its strategy has
   * decided on this snapshot or a later one.
   */
  readonly quoteHolds: ReadonlyMap<string, ReadonlyMap<InstrumentSymbol, number>>
  readonly failuresInRow: ReadonlyMap<StrategyId, number>
  /** A strategy's wishes are placed once it has decided on this snapshot or a later one. */
  readonly wishesFrom: number
  /** States of strategies that decided in this run; the longest unrecorded first. */
  readonly states: ReadonlyMap<StrategyId, RememberedState>
}

/** Changed by `candles.ts`. */
export interface CandleState {
  readonly needed: ReadonlyMap<SymbolAndInterval, NeededCandles>
  readonly open: ReadonlyMap<SymbolAndInterval, OpenCandle>
  /** The first candle that was seen from its beginning; exchange clock. */
  readonly wholeFrom: ReadonlyMap<SymbolAndInterval, number>
  /** Strategies that decide on closed candles, and were not asked since one closed. */
  readonly due: ReadonlySet<StrategyId>
}

export interface NeededCandles {
  readonly symbol: string
  readonly intervalMs: number
  readonly capacity: number
  /** Strategies that decide when one of these closes. */
  readonly deciders: readonly StrategyId[]
}

export interface RememberedState {
  readonly state: unknown
  /** Since when the state differs from the one in the book; undefined: it does not. */
  readonly waitsSince: number | undefined
}

export interface OrderRefusal {
  readonly strategyId: StrategyId
  readonly symbol: string
  readonly kind: 'opens' | 'reduces' | 'flatten'
  readonly cause: CauseName
  /** The exchange's last answer. */
  readonly code: string
  readonly message: string
  /** Those of the refused order that asked for least. */
  readonly terms: OrderTerms
  /** Where a grid was missed: the step on which all accepted orders lie, in configured steps. */
  readonly commonStep: number
  /** Orders that the cause concerns and that were accepted in a row since. */
  readonly accepted: number
  readonly firstAt: number
  readonly at: number
  readonly inRow: number
  readonly orders: number
  /** An operator was alerted. */
  readonly isLogged: boolean
}

export function beginStep(core: Core, now: number): void {
  const state = mutable(core)
  state.now = now
  state.effects = NO_EFFECTS
}

const NO_EFFECTS: Effect[] = Object.freeze<Effect[]>([]) as Effect[]

export function emit(core: Core, effect: Effect): void {
  if (core.effects === NO_EFFECTS) mutable(core).effects = [effect]
  else mutable(core.effects).push(effect)
}

/**
 * The only way to change the book: the entry is applied, and an effect writes it to the journal.
 * With `durable`, nothing that follows in this step is sent before it is on the disk.
 */
export function record(core: Core, entry: JournalRecord, durable = false): void {
  const { book } = core
  noteRecord(core, entry)
  if (!MOVES_MONEY.has(entry.kind) && book.orphans.size === 0) {
    applyRecord(book, entry)
    return emit(core, { kind: 'record', record: entry, durable })
  }
  const waiting = waitingFillsOf(book, entry)
  applyRecord(book, entry)
  recountRecord(core.recount, entry, book)
  const bookings = buildBookings(entry, {
    book,
    instruments: core.settings.instruments,
    waiting,
  })
  emit(core, { kind: 'record', record: entry, durable, ...(bookings.length > 0 && { bookings }) })
}

/**
 * Records that change money are counted a second time, and booked. While fills wait, every record
 * is, since any may name their order.
 */
const MOVES_MONEY = new Set<JournalRecord['kind']>([
  'fills',
  'funding',
  'adopt',
  'boot',
  'released',
])

/** Only this function makes a `Recorded`, and nothing else can be sent (ORD1). */
export function recordBefore<Outgoing>(
  core: Core,
  entry: JournalRecord,
  outgoing: Outgoing,
): Recorded<Outgoing> {
  record(core, entry, true)
  return outgoing as Recorded<Outgoing>
}

export function announce(
  core: Core,
  level: Announcement['level'],
  event: LogEvent,
  fields: Readonly<Record<string, unknown>>,
): void {
  emit(core, { kind: 'announce', level, event, fields })
}

/** @throws Failure for a symbol that is not configured */
export function specOf(core: Core, symbol: string): Instrument {
  return knownInstrument(core.settings.instruments.get(symbol), symbol)
}

/** @throws Failure for a symbol that is not configured: the driver never lets one in */
export function instrumentOf(core: Core, symbol: string): InstrumentState {
  return knownInstrument(core.instruments.get(symbol), symbol)
}

function knownInstrument<Value>(value: Value | undefined, symbol: string): Value {
  if (value !== undefined) return value
  throw new Failure({ code: 'ENGINE_INSTRUMENT_UNKNOWN', sentence: `no instrument ${symbol}` })
}
