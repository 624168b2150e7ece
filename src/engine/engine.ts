import { listMissingCandles } from './state/candles.ts'
import { type Denial } from '../domain/denial.ts'
import { type Equity, type UsedLoss } from '../domain/loss-limits.ts'
import { type Restriction } from '../domain/trading-mode.ts'
import { unreachable } from '../lib/unreachable.ts'
import { type Book } from './book/book.ts'
import { answerCancel } from './cancels/cancel-answer.ts'
import { sendCancel } from './cancels/cancel-all.ts'
import { type Effect, type OutgoingBatch } from './effect.ts'
import { type EngineCommand, type EngineEvent, type GrantedEndpoint } from './event.ts'
import {
  advanceKill,
  cancelEverything,
  postponeKillDeadlines,
  isCutting,
  releaseKill,
  startKill,
  stopWhenKilled,
} from './lifecycle/kill.ts'
import { pruneBook } from './lifecycle/prune-book.ts'
import { advanceStart, startRun, unprovedOf } from './lifecycle/start.ts'
import { advanceStop, askForStop, postponeStopDeadlines, stopWhenFlat } from './lifecycle/stop.ts'
import { answerBatch } from './orders/batch-answer.ts'
import { isStillDenied } from './orders/lasting-denials.ts'
import { isHeldBack } from './orders/last-check.ts'
import { placeBatch, scheduleInstrument } from './orders/schedule.ts'
import { writeCore } from './replay/core-image.ts'
import { advanceResolution, postponeResolutionDeadline } from './resolution/resolution.ts'
import { showAttributedFills, takeFills } from './resolution/take-fills.ts'
import { takeUnreadablePosition } from './resolution/unreadable.ts'
import { takePosition } from './resolution/reconcile.ts'
import { type EngineSettings } from './settings.ts'
import { noteClockSynchronised, noteClockUnsynchronised } from './state/clock-state.ts'
import { announce, beginStep, type Core, instrumentOf, type InstrumentState } from './state/core.ts'
import {
  beginMoment,
  mayDependOnTime,
  mayAnyNeedLook,
  needsLook,
  noteChanged,
  beginLook,
} from './state/changes.ts'
import { createCore } from './state/create-core.ts'
import { noteFeed } from './state/market-state.ts'
import { noteGranted } from './state/open-calls.ts'
import { accountEquityOf } from './state/losses.ts'
import { askForFills, askForPosition } from './state/readings.ts'
import { noteSpaceLow, type KillState, type RunPhase } from './state/run-state.ts'
import { allRestrictions, isKilling, isTrading } from './state/trading-mode.ts'
import { forgetSatisfied } from './state/totals.ts'
import { advanceFlatten } from './lifecycle/flatten.ts'
import { judgeLosses, releaseAfterCoolDown } from './lifecycle/judge-losses.ts'
import { judgePace } from './state/limit-pace.ts'
import { judgeRecount } from './lifecycle/judge-recount.ts'
import { holdScope } from './lifecycle/hold-scope.ts'
import { answerCall, isCallHeldBack, makeAccountCalls } from './strategies/account-calls.ts'
import { recordDueStates } from './strategies/strategy-memory.ts'
import { haltStrategy, takeDecisionFailure } from './lifecycle/strategy-failures.ts'
import { expirePlaces, takeDecision } from './strategies/take-decision.ts'
import { takeSnapshot } from './strategies/take-snapshot.ts'

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
      postponeDeadlinesAfterSleep(core, now)
      // Decisions of one instant change nothing but what they record, and what is only to be read changes nothing yet.
      if ((event.kind !== 'decided' && event.kind !== 'pollDue') || now !== core.now)
        beginMoment(core.changes)
      beginStep(core, now)
      const touched = touchedBy(core, event)
      handleEvent(core, event)
      judgeLosses(core, event)
      judgeRecount(core, event)
      judgePace(core, event)
      showAttributedFills(core)
      lookAtInstruments(core, touched)
      // A resolution that has just ended may have named the order of fills that were waiting.
      showAttributedFills(core)
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
      return !isTrading(core) || mayDependOnTime(core.changes)
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
function postponeDeadlinesAfterSleep(core: Core, now: number): void {
  const sleptMs = now - core.now
  if (core.now === 0 || sleptMs < SLEPT_MS) return
  for (const instrument of core.instruments.values()) postponeResolutionDeadline(instrument, sleptMs)
  postponeStopDeadlines(core, sleptMs)
  postponeKillDeadlines(core, sleptMs)
}

function handleEvent(core: Core, event: EngineEvent): void {
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
      return takeDecisionFailure(core, event)
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
      return readOnGrid(core, event.what)
    case 'commanded':
      return handleCommand(core, event.command)
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
  else if (isCutting(core)) cancelEverything(core)
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
  if (!mayAnyNeedLook(changes)) return
  for (const symbol of touched) {
    if (needsLook(changes, symbol) && !isStillDenied(core, symbol)) advanceInstrument(core, symbol)
  }
}

function advanceInstrument(core: Core, symbol: string): void {
  const instrument = instrumentOf(core, symbol)
  if (core.changes.changed.has(symbol)) forgetSatisfied(core, symbol)
  beginLook(core.changes, symbol)
  advanceResolution(core, instrument)
  scheduleInstrument(core, instrument)
}

/** What is read on the grid: a stop needs it too, until it asks for its own last readings. */
function readOnGrid(core: Core, what: 'fills' | 'positions'): void {
  const { phase, stop } = core.run
  const isStopping = phase === 'stopping' && stop?.phase !== 'proving'
  if (phase !== 'running' && !isStopping) return
  if (what === 'fills') askForFills(core)
  else for (const symbol of core.instruments.keys()) askForPosition(core, symbol)
}

function handleCommand(core: Core, command: EngineCommand): void {
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
  pruneBook(core)
}
