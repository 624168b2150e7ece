import { listMissingCandles } from './state/candles.ts'
import { type Denial } from '../domain/denial.ts'
import { type Equity, type UsedLoss } from '../domain/loss-limits.ts'
import { type Restriction } from '../domain/trading-mode.ts'
import { unreachable } from '../lib/unreachable.ts'
import { type Book } from './book/book.ts'
import { hasEndedBefore } from './book/ended-orders.ts'
import { answerCancel } from './cancels/cancel-answer.ts'
import { sendCancel } from './cancels/cancel-all.ts'
import { type Effect, type OutgoingBatch } from './effect.ts'
import { type EngineCommand, type EngineEvent, type GrantedEndpoint } from './event.ts'
import {
  advanceKill,
  cutEverything,
  excuseKill,
  isCutting,
  releaseKill,
  startKill,
  stopWhenKilled,
} from './lifecycle/kill.ts'
import { advanceStart, startRun, unprovedOf } from './lifecycle/start.ts'
import { advanceStop, askForStop, excuseStop, stopWhenFlat } from './lifecycle/stop.ts'
import { answerBatch } from './orders/batch-answer.ts'
import { isStillDenied } from './orders/denied-look.ts'
import { isHeldBack } from './orders/last-check.ts'
import { placeBatch, scheduleInstrument } from './orders/schedule.ts'
import { writeCore } from './replay/core-image.ts'
import { advanceResolution, excuseResolution } from './resolution/resolution.ts'
import { showSettledOrphans, takeFills } from './resolution/take-fills.ts'
import { takeUnreadablePosition } from './resolution/unreadable.ts'
import { takePosition } from './resolution/reconcile.ts'
import { type EngineSettings } from './settings.ts'
import { noteClockSynchronised, noteClockUnsynchronised } from './state/clock-state.ts'
import { announce, beginStep, type Core, instrumentOf, type InstrumentState, record } from './state/core.ts'
import {
  beginMoment,
  hangsOnTime,
  isAnyToLookAt,
  isToLookAt,
  noteChanged,
  noteLooking,
} from './state/changes.ts'
import { createCore } from './state/create-core.ts'
import { noteFeed } from './state/market-state.ts'
import { noteGranted } from './state/open-calls.ts'
import { accountEquityOf } from './state/losses.ts'
import { askForFills, askForPosition, knownThrough, tradesNeededSince } from './state/readings.ts'
import { notePruned, noteSpaceLow, type KillState, type RunPhase } from './state/run-state.ts'
import { allRestrictions, isKilling, isTrading } from './state/trading-mode.ts'
import { forgetQuiet } from './state/totals.ts'
import { advanceFlatten } from './lifecycle/flatten.ts'
import { judgeLosses, releaseAfterCoolDown } from './lifecycle/judge-losses.ts'
import { judgePace } from './state/limit-pace.ts'
import { judgeRecount } from './lifecycle/judge-recount.ts'
import { holdScope } from './lifecycle/hold-scope.ts'
import { answerCall, isCallHeldBack, makeAccountCalls } from './strategies/account-calls.ts'
import { recordDueStates } from './strategies/strategy-memory.ts'
import { haltStrategy, takeFailure } from './lifecycle/take-failure.ts'
import { expirePlaces, takeDecision } from './strategies/take-decision.ts'
import { takeSnapshot } from './strategies/take-snapshot.ts'

/** How often what is over is forgotten: what a checkpoint has to take away then is little. */
const PRUNE_EVERY_MS = 5000
/** And so often where there are so many orders, that in five seconds it would be much: 1,250 at 250 a second. */
const PRUNE_MANY_EVERY_MS = 1000
const MANY_ORDERS = 5000
/** How far the fills are known is written down this often, if there is nothing to forget. */
const FILLS_NOTED_EVERY_MS = 3_600_000
/** Orders are kept so long after they ended: a fill of theirs becomes readable within seconds. */
const ORDERS_KEPT_MS = 300_000

/** The decision machinery of one account. */
export interface Engine {
  /** Handles one event at one moment (Unix ms, our clock) and says what is to be done, in order. */
  step(event: EngineEvent, now: number): readonly Effect[]
  /** For looking at, never for changing. */
  readonly book: Book
  readonly phase: RunPhase
  /** The instruments that the start of this run has not proved yet. */
  readonly unproved: readonly string[]
  /** Whether strategies are asked: it runs, no stop was asked for, and no kill stands. Not whether orders may leave. */
  readonly isTrading: boolean
  /** Whether time that passes may be a reason to do something, beside what is done at long intervals. */
  readonly isWaiting: boolean
  /** What strategies still wait for, a sentence each: closed candles. */
  readonly missingCandles: readonly string[]
  /** How far the proof of a kill is; undefined where none stands. */
  readonly kill: KillState | undefined
  /** Everything that holds a scope in a stricter mode, what is only true just now included. */
  readonly restrictions: readonly Restriction[]
  /** Unix ms, our clock: up to when fills were read, and when the exchange last confirmed what is held; 0 never. */
  readonly fillsReadAt: number
  positionReadAt(symbol: string): number
  /** How an instrument stands; undefined where it is not traded. */
  instrument(symbol: string): InstrumentState | undefined
  /** Whether a batch may not leave after all: looked at right before its first byte. */
  isHeldBack(batch: Pick<OutgoingBatch, 'clientOids'>): boolean
  /** The same of a call on the account. */
  isCallHeldBack(callId: number): boolean
  /** By scope: what was lost, where that is limited and known. */
  readonly losses: ReadonlyMap<string, UsedLoss>
  /** With peak and drawdown; undefined while a part is not known. */
  readonly equity: Equity | undefined
  readonly denied: ReadonlyMap<Denial['code'], number>
  /** Everything that it knows, as text: between two steps only. */
  write(): string
}

/**
 * The core: synchronous and deterministic. It never awaits, reads no clock, draws no random number, opens
 * nothing: the same events at the same times give the same effects to the byte (DET1).
 */
export function createEngine(settings: EngineSettings, book: Book): Engine {
  return resumeEngine(createCore(settings, book))
}

/** Goes on from a core as it was between two steps. */
export function resumeEngine(core: Core): Engine {
  return {
    step(event, now) {
      excuseSleep(core, now)
      // Decisions of one instant change nothing but what they record, and what is only to be read changes nothing yet.
      if ((event.kind !== 'decided' && event.kind !== 'pollDue') || now !== core.now)
        beginMoment(core.changes)
      beginStep(core, now)
      const touched = touchedBy(core, event)
      handle(core, event)
      judgeLosses(core, event)
      judgeRecount(core, event)
      judgePace(core, event)
      showSettledOrphans(core)
      lookAtInstruments(core, touched)
      // A resolution that has just ended may have named the order of fills that were waiting.
      showSettledOrphans(core)
      makeAccountCalls(core)
      advanceStart(core)
      advanceFlatten(core)
      advanceKill(core)
      stopWhenFlat(core)
      advanceStop(core)
      return core.effects
    },
    book: core.book,
    get phase() {
      return core.run.phase
    },
    get unproved() {
      return unprovedOf(core)
    },
    get isTrading() {
      return isTrading(core)
    },
    get isWaiting() {
      return !isTrading(core) || hangsOnTime(core.changes)
    },
    get missingCandles() {
      return listMissingCandles(core)
    },
    get kill() {
      return core.run.kill
    },
    get restrictions() {
      return allRestrictions(core)
    },
    get fillsReadAt() {
      return core.readings.fillsReadAt
    },
    positionReadAt: (symbol) => core.instruments.get(symbol)?.position.agreedAt ?? 0,
    instrument: (symbol) => core.instruments.get(symbol),
    isHeldBack: (batch) => isHeldBack(core, batch),
    isCallHeldBack: (callId) => isCallHeldBack(core, callId),
    losses: core.losses.used,
    get equity() {
      return accountEquityOf(core)
    },
    denied: core.denials.counts,
    write: () => writeCore(core),
  }
}

/** Time passes several times a second while the process runs: after so long a silence it has stood still, ms. */
const SLEPT_MS = 5000

/**
 * The process has stood still, on a machine that slept or was paused: what is waited for with patience has not
 * been waited for meanwhile. `now`: Unix ms, our clock, of the event that comes next.
 */
function excuseSleep(core: Core, now: number): void {
  const sleptMs = now - core.now
  if (core.now === 0 || sleptMs < SLEPT_MS) return
  for (const instrument of core.instruments.values()) excuseResolution(instrument, sleptMs)
  excuseStop(core, sleptMs)
  excuseKill(core, sleptMs)
}

function handle(core: Core, event: EngineEvent): void {
  switch (event.kind) {
    case 'started':
      return startRun(core)
    case 'clockSynchronised':
      return noteClockSynchronised(core, event.offsetMs)
    case 'clockUnsynchronised':
      return noteClockUnsynchronised(core, event.reason)
    case 'snapshotTaken':
      return takeSnapshot(core, event.tickers)
    case 'decided':
      return takeDecision(core, event)
    case 'decisionFailed':
      return takeFailure(core, event)
    case 'granted':
      return useGrant(core, event.endpoint)
    case 'batchAnswered':
      return answerBatch(core, event.batchId, event.answer)
    case 'cancelAnswered':
      return answerCancel(core, event.cancelId, event.answer)
    case 'callAnswered':
      return answerCall(core, event.callId, event.answer)
    case 'fillsRead':
      return takeFills(core, event.reading)
    case 'positionRead':
      return takePosition(core, event.reading)
    case 'positionUnreadable':
      return takeUnreadablePosition(core, event)
    case 'feedRead':
      return noteFeed(core, event.feed, event.reading)
    case 'readFailed':
      return announce(core, 'warn', 'read.failed', { what: event.what, reason: event.reason })
    case 'pollDue':
      return poll(core, event.what)
    case 'commanded':
      return obey(core, event.command)
    case 'spaceMeasured':
      noteSpaceLow(core.run, event.isLow ? core.now : undefined)
      return announce(core, event.isLow ? 'error' : 'warn', event.isLow ? 'disk.low' : 'disk.enough', {
        freeBytes: event.freeBytes,
      })
    case 'timePassed':
      return passTime(core)
    default:
      return unreachable(event)
  }
}

function useGrant(core: Core, endpoint: GrantedEndpoint): void {
  noteGranted(core, endpoint)
  if (endpoint === 'batchPlaceOrder') placeBatch(core)
  else if (isCutting(core)) cutEverything(core)
  else sendCancel(core)
}

/** The instruments that an event may change, named before it is handled; time passing looks at all of them. */
function touchedBy(core: Core, event: EngineEvent): Iterable<string> {
  switch (event.kind) {
    // What is decided on a snapshot comes as events of its own, and a granted call has just been used.
    case 'snapshotTaken':
    case 'granted':
    case 'clockSynchronised':
    case 'clockUnsynchronised':
    case 'feedRead':
    case 'callAnswered':
    case 'spaceMeasured':
      return []
    case 'decided':
      return core.settings.strategies.get(event.strategyId)?.symbols ?? []
    case 'positionRead':
      return [event.reading.symbol]
    case 'positionUnreadable':
      return [event.symbol]
    case 'batchAnswered':
      return symbolsOf(core.calls.batches.get(event.batchId))
    case 'cancelAnswered':
      return core.calls.cancels.get(event.cancelId)?.symbols ?? []
    case 'started':
    case 'decisionFailed':
    case 'fillsRead':
    case 'readFailed':
    case 'pollDue':
    case 'commanded':
    case 'timePassed':
      return core.instruments.keys()
    default:
      return unreachable(event)
  }
}

function symbolsOf(call: { readonly symbol: string } | undefined): readonly string[] {
  return call === undefined ? [] : [call.symbol]
}

/** At those for which there is a reason (BND2). While the account does not trade there always is one. */
function lookAtInstruments(core: Core, touched: Iterable<string>): void {
  const { changes } = core
  if (!isTrading(core)) {
    for (const symbol of touched) {
      advanceInstrument(core, symbol)
      noteChanged(changes, symbol)
    }
    return
  }
  if (!isAnyToLookAt(changes)) return
  for (const symbol of touched) {
    if (isToLookAt(changes, symbol) && !isStillDenied(core, symbol)) advanceInstrument(core, symbol)
  }
}

function advanceInstrument(core: Core, symbol: string): void {
  const instrument = instrumentOf(core, symbol)
  if (core.changes.changed.has(symbol)) forgetQuiet(core, symbol)
  noteLooking(core.changes, symbol)
  advanceResolution(core, instrument)
  scheduleInstrument(core, instrument)
}

/** What is read on the grid: a stop needs it too, until it asks for its own last readings. */
function poll(core: Core, what: 'fills' | 'positions'): void {
  const { phase, stop } = core.run
  const isStopping = phase === 'stopping' && stop?.phase !== 'proving'
  if (phase !== 'running' && !isStopping) return
  if (what === 'fills') askForFills(core)
  else for (const symbol of core.instruments.keys()) askForPosition(core, symbol)
}

function obey(core: Core, command: EngineCommand): void {
  switch (command.kind) {
    case 'stop':
      if (isKilling(core)) return stopWhenKilled(core, command.policy)
      return askForStop(core, command.policy)
    case 'restrict':
    case 'flatten':
      return holdScope(core, command)
    case 'haltStrategy':
      return haltStrategy(core, command)
    case 'release':
      return releaseAfterCoolDown(core, command)
    case 'kill':
      return startKill(core, command)
    case 'releaseKill':
      return releaseKill(core, command)
    default:
      return unreachable(command)
  }
}

function passTime(core: Core): void {
  expirePlaces(core)
  recordDueStates(core)
  const { prunedAt } = core.run
  const everyMs = core.book.orders.size > MANY_ORDERS ? PRUNE_MANY_EVERY_MS : PRUNE_EVERY_MS
  if (prunedAt > 0 && core.now - prunedAt < everyMs) return
  notePruned(core.run, core.now)
  if (prunedAt === 0) return
  const ordersBefore = core.now - ORDERS_KEPT_MS
  const tradesBefore = tradesNeededSince(core)
  const fillsThroughAt = knownThrough(core)
  const isDue = fillsThroughAt - core.book.fillsThroughAt >= FILLS_NOTED_EVERY_MS
  if (!isDue && !hasSomethingOld(core.book, { ordersBefore, tradesBefore })) return
  // Keys go with their orders: the journal keeps them.
  record(core, {
    kind: 'prune',
    at: core.now,
    ordersBefore,
    tradesBefore,
    fillsThroughAt,
    keysBefore: ordersBefore,
  })
}

/** Whether something can be forgotten. Trades and calls are in the order of their coming: the first tells. */
function hasSomethingOld(
  { ended, trades, callKeys }: Book,
  { ordersBefore, tradesBefore }: { ordersBefore: number; tradesBefore: number },
): boolean {
  const [filledAt = tradesBefore] = trades.values()
  const [calledAt = ordersBefore] = callKeys.values()
  return filledAt < tradesBefore || calledAt < ordersBefore || hasEndedBefore(ended, ordersBefore)
}
