import { type Denial } from '../domain/denial.ts'
import { unreachable } from '../lib/unreachable.ts'
import { answerCall, tendCalls } from './strategies/account-calls.ts'
import { type Book } from './book/book.ts'
import { noteBoundFills } from './strategies/bound-fills.ts'
import { answerCancel } from './cancels/cancel-answer.ts'
import { sendCancel } from './cancels/cancel-all.ts'
import { noteClockUnsynchronised, noteClockSynchronised } from './state/clock-state.ts'
import { writeCore } from './replay/core-image.ts'
import { announce, type Core, createCore, instrumentOf, record } from './state/core.ts'
import { type Effect } from './effect.ts'
import { type EngineCommand, type EngineEvent } from './event.ts'
import { advanceResolution } from './resolution/resolution.ts'
import { fillsSince } from './state/fills-since.ts'
import { halt, resume } from './state/halt.ts'
import { advanceKill, releaseKill, startKill, stopWhenKilled } from './lifecycle/kill.ts'
import { answerBatch } from './orders/batch-answer.ts'
import { expirePlaces, takeDecision, withdrawStrategy } from './strategies/take-decision.ts'
import { takeFills } from './resolution/take-fills.ts'
import { takeSnapshot } from './strategies/take-snapshot.ts'
import { takePosition } from './resolution/reconcile.ts'
import { type EngineSettings } from './settings.ts'
import { advanceStart, startRun } from './lifecycle/start.ts'
import { excuseSleep } from './lifecycle/sleep.ts'
import { advanceStop, startStop } from './lifecycle/stop.ts'
import { placeBatch, scheduleInstrument } from './orders/schedule.ts'

/** Terminal orders are kept this long: three idempotency windows of the exchange. */
const ORDERS_KEPT_MS = 3_600_000
/** Intent keys are kept this long after their last order was sent. */
const KEYS_KEPT_MS = 7 * 86_400_000

/** The decision machinery of one account. */
export interface Engine {
  /** Handles one event at one moment (Unix ms, our clock) and says what is to be done, in order. */
  step(event: EngineEvent, now: number): readonly Effect[]
  /** For looking at, never for changing. */
  readonly book: Book
  readonly mode: Core['mode']
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
      core.effects = []
      excuseSleep(core, now)
      core.now = now
      const touched = touchedBy(core, event)
      handle(core, event)
      noteBoundFills(core)
      for (const symbol of touched) tend(core, symbol)
      // A resolution that has just ended may have named the order of fills that were waiting.
      noteBoundFills(core)
      tendCalls(core)
      advanceStart(core)
      advanceKill(core)
      advanceStop(core)
      return core.effects
    },
    book: core.book,
    get mode() {
      return core.mode
    },
    denied: core.denied,
    write: () => writeCore(core),
  }
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
      if (event.disabled) withdrawStrategy(core, event.strategyId, event.reason)
      else announce(core, 'error', 'strategy.failed', { strategy: event.strategyId, reason: event.reason })
      return
    case 'granted':
      core.asked.delete(event.endpoint)
      return event.endpoint === 'batchPlaceOrder' ? placeBatch(core) : sendCancel(core)
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
    case 'feedRead':
      core.feeds.set(event.feed, event.reading)
      return
    case 'readFailed':
      return announce(core, 'warn', 'read.failed', { what: event.what, reason: event.reason })
    case 'pollDue':
      return poll(core, event.what)
    case 'commanded':
      return obey(core, event.command)
    case 'spaceMeasured':
      core.isSpaceLow = event.isLow
      return announce(core, event.isLow ? 'error' : 'warn', event.isLow ? 'disk.low' : 'disk.enough', {
        freeBytes: event.freeBytes,
      })
    case 'timePassed':
      return passTime(core)
    default:
      return unreachable(event)
  }
}

/** The instruments that an event may change, told before it is handled; time passing looks at all of them. */
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
    case 'batchAnswered':
      return symbolsOf(core.batches.get(event.batchId))
    case 'cancelAnswered':
      return core.cancels.get(event.cancelId)?.symbols ?? []
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

function tend(core: Core, symbol: string): void {
  const instrument = instrumentOf(core, symbol)
  advanceResolution(core, instrument)
  scheduleInstrument(core, instrument)
}

/** What is read on the grid: a stop needs it too, until it asks for its own last readings. */
function poll(core: Core, what: 'fills' | 'positions'): void {
  const isStopping = core.mode === 'stopping' && core.stop?.phase !== 'proving'
  if (core.mode !== 'running' && core.mode !== 'killed' && !isStopping) return
  if (what === 'fills') core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
  else for (const symbol of core.instruments.keys()) core.effects.push({ kind: 'readPosition', symbol })
}

function obey(core: Core, command: EngineCommand): void {
  switch (command.kind) {
    case 'stop':
      return core.mode === 'killed' ? stopWhenKilled(core) : startStop(core, command.policy)
    case 'halt':
      return halt(core, command.symbol, command.reason)
    case 'resume':
      return resume(core, command)
    case 'kill':
      return startKill(core, command)
    case 'release':
      return releaseKill(core, command)
    default:
      return unreachable(command)
  }
}

function passTime(core: Core): void {
  expirePlaces(core)
  if (core.prunedAt === 0) core.prunedAt = core.now
  if (core.now - core.prunedAt < ORDERS_KEPT_MS) return
  core.prunedAt = core.now
  record(core, {
    kind: 'prune',
    at: core.now,
    ordersBefore: core.now - ORDERS_KEPT_MS,
    keysBefore: core.now - KEYS_KEPT_MS,
  })
}
