import type { ClockRefusals } from '../../domain/answer.ts'
import type { OpenCandle } from '../../domain/candles.ts'
import type { DenialState } from '../../domain/denial.ts'
import type { FeedId, FeedReading } from '../../domain/feed.ts'
import type { ClientOid, OrderId, StrategyId } from '../../domain/ids.ts'
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
import { own } from '../../lib/own.ts'
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
 * Everything that the engine knows. The book is durable; the rest is lost at a restart, and may be.
 * One file alone, named in its comment, changes each piece.
 */
export interface Core {
  readonly settings: EngineSettings
  readonly book: Book
  /** Unix ms, our clock, of the present event. */
  readonly now: number
  readonly effects: readonly Effect[]
  readonly clock: ClockState
  readonly market: MarketReadings
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
  /** Keyed by symbol: how far its price moves in an hour. Changed by `liquidations.ts`. */
  readonly hours: ReadonlyMap<string, HourlyCloses>
  readonly worstCase: WorstCaseState
  /** Keyed by symbol: the payments that readings have shown. Changed by `unseen-funding.ts`. */
  readonly funding: ReadonlyMap<string, FundingWatch>
  /** Absent if no strategy has exits. Changed by `exits.ts`. */
  readonly exits?: ExitWatch
  /** Keyed by symbol; absent if exits at the exchange are not listed. Changed by `exits.ts`. */
  readonly keptExits?: ReadonlyMap<string, KeptExitsWatch>
  /** Keyed by symbol: positions that the daemon itself closes in part. Changed by `trading-mode.ts`. */
  readonly reductions: ReadonlyMap<string, Reduction>
  readonly recount: RecountState
  /** Keyed by strategy, instrument, kind and cause. Changed by `refusals.ts`. */
  readonly refusals: ReadonlyMap<string, OrderRefusal>
  /** Keyed by kind: the events of the last minute. Changed by `limit-pace.ts`. */
  readonly lastMinute: ReadonlyMap<string, readonly number[]>
  readonly run: RunState
  readonly changes: ChangeState
  /** Worked out from the book, so an image of the core leaves it out. */
  readonly totals: KeptTotals
  /** Settled money is left out too. */
  readonly settled: KeptSettled
  /** Orders by price are left out too. */
  readonly ladders: KeptLadders
  /** Keyed by strategy. Changed by `roster.ts`. */
  readonly universeRefusals: ReadonlyMap<StrategyId, UniverseRefusal>
}

/** Whether the exchange knows names that this state has not sent. Changed by `older-state.ts`. */
export interface NameState {
  /** Duplicates to the exchange although sent for the first time. */
  readonly suspected: ReadonlySet<ClientOid>
  /**
   * Keyed by strategy and symbol: when such an order was sent, until one is accepted as new; Unix
   * ms, exchange clock.
   */
  readonly suspectedWishes: ReadonlyMap<string, number>
  /**
   * Keyed by instrument: the last cancel-all that was perhaps carried out but listed nothing; Unix
   * ms, exchange clock.
   */
  readonly unlistedAt: ReadonlyMap<string, number>
  /** Names that a cancel-all listed and the book does not know. */
  readonly search: NameSearch | undefined
}

/** Whether unknown orders from before the start may rest. Changed by `readings.ts`. */
export interface UnlistedState {
  /** A cancel-all is to list what rests, since a fill of nobody may be of such an order. */
  readonly symbols: ReadonlySet<string>
  /**
   * Keyed by symbol: the last cancel-all after which nothing from before the start can rest; Unix
   * ms, exchange clock.
   */
  readonly listedAt: ReadonlyMap<string, number>
}

export interface NameSearch {
  readonly names: ReadonlySet<string>
  /** Our clock. */
  readonly since: number
  /** How far beyond the next ordinals names were derived. */
  readonly offset: number
}

/** Changed by `market-state.ts`. */
export interface ClockState {
  /** Exchange clock less ours; undefined before it was measured. */
  readonly offsetMs: number | undefined
  /** Unix ms, our clock, of the last measurement without contradiction. */
  readonly synchronisedAt: number
  /** Why the clock cannot be relied on. */
  readonly unsynchronised: string | undefined
  /** Batches in a row refused for their time, last code, end of the pause; Unix ms, our clock. */
  readonly refusals: number
  readonly refused: string
  readonly refusedUntil: number
}

/** The last tickers and feeds. Changed by `market-state.ts`. */
export interface MarketReadings {
  readonly tickers: TickerTable | undefined
  readonly snapshots: number
  readonly feeds: ReadonlyMap<FeedId, FeedReading>
  /** Keyed by symbol: what this run's last reading said beside the size. */
  readonly marks: ReadonlyMap<string, PositionMark>
  /** Undefined before they were read. */
  readonly contracts: HeardContracts | undefined
}

/**
 * At most one creating request of an instrument is on the wire, and nothing is placed between a
 * cancel-all and the readings that prove what happened.
 *
 *     idle ──batch granted──► placing ──answered──► idle
 *      │                        (an unknown order) ──► resolving
 *      └──unwanted, unknown or missing orders, a command──► resolving ──proved──► idle
 *
 * A cancel-all of the whole product resolves every instrument. One that is `placing` is resolved
 * when its batch is answered: which of its orders the cancel-all met is not known.
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
  /** Undefined if it has no orders to send. */
  readonly wantsBatchSince: number | undefined
  readonly wantsReduce: boolean
  /**
   * No order that could rest is placed until the cancel-all was granted, or is not due any more.
   */
  readonly wantsCancel: boolean
  /**
   * A cancel-all without an answer may arrive until then, so no resolution ends; Unix ms, our
   * clock.
   */
  readonly lateCancelUntil: number
  /** Unix ms, our clock. */
  readonly unwantedSince: ReadonlyMap<ClientOid, number>
  /** Since when the market is beyond a resting order without a fill; Unix ms, our clock. */
  readonly crossedSince: ReadonlyMap<ClientOid, number>
  /** Wanted orders that a cancel-all took away, the longest missing first. */
  readonly displaced: readonly DisplacedOrder[]
  /** Changed by `resolution/reconcile.ts`. */
  readonly position: PositionCheck
  /** Changed by `resolution/account-setup.ts`. */
  readonly setup: SetupCheck
  readonly start: InstrumentStart
}

/** Decides which orders are placed again and what is logged. */
export type ResolutionCause =
  | 'unwanted'
  | 'unknown'
  | 'missing'
  | 'command'
  | 'restart'
  | 'released'
  | 'cancelledAlong'

/**
 * `waiting` until no unknown request can be accepted any more · `cancelling` until a cancel-all is
 * answered · `settling` until fills and position were read late enough.
 */
export type ResolutionStage = 'waiting' | 'cancelling' | 'settling'

/** Finds out what is unknown. */
export interface Resolution {
  readonly cause: ResolutionCause
  readonly stage: ResolutionStage
  /** False where no order can rest, and only readings are waited for. */
  readonly cancels: boolean
  /** Not sent earlier; Unix ms, our clock. */
  readonly notBefore: number
  /** In a row refused for good, and the last answer. */
  readonly refusals: number
  readonly refusal: string
  /**
   * No unknown order can be accepted later; Unix ms, exchange clock, judged only while the clocks
   * are synchronised. 0: none.
   */
  readonly acceptanceDeadlineAt: number
  /** Then the instrument is halted, and an operator must look; Unix ms, our clock. */
  readonly patientUntil: number
  /** Since when the exchange is silent; Unix ms, our clock. */
  readonly silentSince: number | undefined
  /**
   * When the cancel-all was answered, or the wait ended without one; 0 before. Unix ms, our clock.
   */
  readonly provedAt: number
  /** Complete reads asked for late enough, and the last of them. */
  readonly fillsReads: number
  readonly fillsReadAt: number
  readonly positionRead: boolean
  readonly askedAt: number
}

/** An order that has to be placed again after a cancel-all. */
export interface DisplacedOrder {
  readonly terms: OrderTerms
  /** Unix ms, our clock, of the answer to the cancel-all. */
  readonly since: number
  readonly isLateLogged: boolean
}

/** Strategies lost these because the exchange's position was believed. */
export interface WriteOff {
  /** The position that the fills had explained. */
  readonly was: Holding
  readonly lost: ReadonlyMap<StrategyId, Holding>
  /** Since then the account's holding has not changed; Unix ms, our clock. */
  readonly movedAt: number
}

/** The exchange's position against the book's. */
export interface PositionCheck {
  /** A reading asked for then agreed; Unix ms, our clock. */
  readonly agreedAt: number
  /** When the newest was asked for; Unix ms, our clock. A difference that is unexplained stops it. */
  readonly readAt: number
  readonly mismatch: Mismatch | undefined
  /** The last believed difference of this run, and what strategies lost by it. */
  readonly writtenOff: WriteOff | undefined
  /** When a record of this run last changed the holding; Unix ms, our clock. */
  readonly movedAt: number
  /** The last reading was asked for later, and agrees. */
  readonly isConfirmed: boolean
  /** Oldest first: a reading is compared with the book of its time. */
  readonly recentFills: readonly PositionFill[]
  /** Waits until the fills of its time are known. */
  readonly pending: PendingReading | undefined
}

/** Compares what position rows say of the account's settings. A change must be read twice. */
export interface SetupCheck {
  /** Keyed by setting, with the time of the finding; Unix ms, our clock. */
  readonly found: ReadonlyMap<string, { readonly verdict: string; readonly at: number }>
  /** The held position's; undefined: none, or unknown. */
  readonly marginMode: MarginMode | undefined
  /** The mode that the last batch named. */
  readonly sentMode: MarginMode | undefined
  /** The exchange has refused the last such orders for this mode, since something is held. */
  readonly refusedMode: MarginMode | undefined
  /** The leverage that was believed last in this run. */
  readonly leverage: string | undefined
}

/** Seen once; the next reading confirms or drops it. */
export interface Mismatch {
  /** Exchange less book, lots, signed. In one-way mode the long side is the net difference. */
  readonly difference: Holding
  /** Unix ms, our clock. */
  readonly requestedAt: number
}

export interface PositionFill {
  readonly change: HoldingChange
  /** Exchange clock. */
  readonly filledAt: number
}

export interface PendingReading {
  readonly holding: Holding
  /** Empty if there is none. */
  readonly counters: Readonly<Record<HoldSide, string>>
  /** No data at all, which may mean no position. */
  readonly isSilent: boolean
  readonly requestedAt: number
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
  /** Exchange clock as we know it. */
  readonly requestAt: number
  /** The lead over our clock that the exchange stated as it refused our time. */
  readonly clockAheadMs: number | undefined
}

/** Calls and grants that have not come back, and pace. Changed by `open-calls.ts`. */
export interface OpenCalls {
  readonly asked: ReadonlySet<GrantedEndpoint>
  readonly batches: ReadonlyMap<number, OpenBatch>
  readonly cancels: ReadonlyMap<number, OpenCancel>
  readonly cancelId: number
  /** Refusals of the time of cancel-alls. */
  readonly clockRefusals: ClockRefusals
  readonly cancelsThatFound: number
  /** Calls that place no order: strategy and key by number. */
  readonly accountCalls: ReadonlyMap<number, string>
  readonly accountCallId: number
  /** Keyed by strategy and key: when a failed call may be made again; Unix ms, our clock. */
  readonly accountCallsNotBefore: ReadonlyMap<string, number>
  /** Orders of the last minute, where limited; Unix ms, our clock. */
  readonly sentAt: ReadonlyMap<StrategyId, readonly number[]>
}

/** How far the account has been read. Changed by `readings.ts`. */
export interface ReadingState {
  /** Fills readable by then are known; Unix ms, our clock. 0: none were read. */
  readonly fillsReadAt: number
  /** When the last complete reading was asked for; Unix ms, our clock. 0: none. */
  readonly fillsAskedAt: number
  /** Fills readable by then are known; Unix ms, exchange clock. */
  readonly fillsReadThroughAt: number
  /** Keyed by orderId: fills that wait for their order. */
  readonly orphans: ReadonlyMap<OrderId, OrphanNote>
  /** Keyed by name: `fill 77`, `position BTCUSDT`. */
  readonly unreadable: ReadonlyMap<string, UnreadableNote>
  /** Keyed by what was read: `fills`, `position BTCUSDT`. A successful reading removes it. */
  readonly failures: ReadonlyMap<string, ReadFailure>
  /** Keyed by name: since when no answer could be read at all; Unix ms, our clock. */
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
  /** Lasts from its log line until everything that it left unknown is known. */
  readonly outage: ExchangeOutage | undefined
}

export interface SilentCalls {
  /** The first failure and the last; Unix ms, our clock. */
  readonly since: number
  readonly lastAt: number
  readonly times: number
  /** The error in place of the last answer. */
  readonly reason: string
  /** The last call had left this machine, as far as known. */
  readonly hasLeft: boolean
}

export interface ExchangeOutage {
  /** The first call without an answer; Unix ms, our clock. */
  readonly since: number
  readonly calls: ReadonlyMap<string, number>
  readonly unknown: ReadonlySet<ClientOid>
  /** How many of these are in each state now. */
  readonly found: ReadonlyMap<string, number>
  readonly cancelled: number
  readonly fills: number
  /** Instruments that are still to be proved, and those that are proved. */
  readonly unproved: ReadonlySet<string>
  readonly proved: ReadonlySet<string>
}

/** Fills that wait for their order. */
export interface OrphanNote {
  readonly symbol: string
  /** Our clock. */
  readonly since: number
  /** Logged that no answer explains them. */
  readonly isLogged: boolean
}

/** See `resolution/unreadable.ts`. */
export interface UnreadableNote {
  /** `*` if the row names no instrument. */
  readonly symbol: Scope
  readonly problem: string
  /** Our clock. */
  readonly since: number
  /** When the row last came; Unix ms, our clock. */
  readonly seenAt: number
  /** Time without answers does not count. */
  readonly lastedMs: number
  /** Unreadable for too long: the instrument is halted for good, and not waited for. */
  readonly isHalted: boolean
  /** One whole reading has come without the row. */
  readonly isRead: boolean
}

/**
 * The snapshot that each strategy decided on, and wishes that wait for its next decision. Changed
 * by `decision-state.ts`.
 */
export interface DecisionState {
  readonly decidedOn: ReadonlyMap<StrategyId, number>
  /**
   * Keyed by strategy and symbol: the snapshot to be decided on before a filled or refused ladder
   * is placed again.
   */
  readonly quoteHolds: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Failed decisions in a row. */
  readonly failuresInRow: ReadonlyMap<StrategyId, number>
  /** Standing wishes are placed once a strategy has decided on this snapshot or later. */
  readonly wishesFrom: number
  /** States of strategies that decided in this run; the longest unrecorded first. */
  readonly states: ReadonlyMap<StrategyId, RememberedState>
}

/** Changed by `candles.ts`. */
export interface CandleState {
  /** Keyed by symbol and interval. */
  readonly needed: ReadonlyMap<string, NeededCandles>
  readonly open: ReadonlyMap<string, OpenCandle>
  /** The first candle that was seen from its beginning; Unix ms, exchange clock. */
  readonly wholeFrom: ReadonlyMap<string, number>
  /** They decide on closed candles, and were not asked since one closed. */
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
  /** Since when it differs from the book; undefined: it does not. Unix ms, our clock. */
  readonly waitsSince: number | undefined
}

/** Orders that the exchange refuses for one cause. */
export interface OrderRefusal {
  readonly strategyId: StrategyId
  readonly symbol: string
  /** The effect on the position; a flatten is a kind of its own. */
  readonly kind: 'opens' | 'reduces' | 'flatten'
  readonly cause: CauseName
  /** The exchange's last answer. */
  readonly code: string
  readonly message: string
  /** The refused order that asked for least. */
  readonly terms: OrderTerms
  /** Where a grid was missed: configured steps on which all accepted orders lie; 0: none. */
  readonly commonStep: number
  /** Concerned orders that were accepted in a row since. */
  readonly accepted: number
  /** The first refusal and the last; Unix ms, our clock. */
  readonly firstAt: number
  readonly at: number
  readonly inRow: number
  readonly orders: number
  /** An operator was alerted. */
  readonly isLogged: boolean
}

/** Begins a step at an instant of our clock, with no effects yet. */
export function beginStep(core: Core, now: number): void {
  const state = own(core)
  state.now = now
  state.effects = NO_EFFECTS
}

const NO_EFFECTS: Effect[] = Object.freeze<Effect[]>([]) as Effect[]

export function emit(core: Core, effect: Effect): void {
  if (core.effects === NO_EFFECTS) own(core).effects = [effect]
  else own(core.effects).push(effect)
}

/**
 * The one way to change the book: written to the journal and applied. With `durable` nothing that
 * follows in this step is sent before it is on the disk.
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

/** They are counted a second time, or booked. Any record may name the order of fills that wait. */
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
  return known(core.settings.instruments.get(symbol), symbol)
}

/** @throws Failure for a symbol that is not configured: the driver never lets one in */
export function instrumentOf(core: Core, symbol: string): InstrumentState {
  return known(core.instruments.get(symbol), symbol)
}

function known<Value>(value: Value | undefined, symbol: string): Value {
  if (value !== undefined) return value
  throw new Failure({ code: 'ENGINE_INSTRUMENT_UNKNOWN', sentence: `no instrument ${symbol}` })
}
