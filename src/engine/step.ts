import { takeFetchedCandles } from './state/candles.ts'
import { unreachable } from '../lib/unreachable.ts'
import { answerCancel, sendCancel } from './orders/cancel-all.ts'
import type { Effect } from './effect.ts'
import {
  type EngineCommand,
  type EngineEvent,
  type EventOf,
  type GrantedEndpoint,
  isByHand,
} from './event.ts'
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
import { advanceStart, startRun } from './lifecycle/start.ts'
import { advanceStop, askForStop, postponeStopDeadlines, stopWhenFlat } from './lifecycle/stop.ts'
import { answerBatch, placeBatch, scheduleInstrument } from './orders/schedule.ts'
import { isStillDenied } from './orders/plan-instrument.ts'
import { judgeSuspected, listResting, searchNames } from './resolution/older-state.ts'
import { advanceResolution, postponeResolutionDeadline } from './resolution/resolution.ts'
import { settleWaitingFills, takeFills } from './resolution/take-fills.ts'
import { hearOfFailure, takeUnreadablePosition } from './resolution/unreadable.ts'
import { takePosition } from './resolution/reconcile.ts'
import {
  noteClockMeasured,
  noteClockSynchronised,
  noteClockUnsynchronised,
  noteContracts,
  noteFeed,
} from './state/market-state.ts'
import { announce, beginStep, type Core, instrumentOf, record } from './state/core.ts'
import { beginPlanning, beginMoment, isPlanDue, noteChanged } from './state/changes.ts'
import { noteGranted } from './state/open-calls.ts'
import { askForFills, askForPosition, noteReadFailure } from './state/readings.ts'
import { forgetRefusals } from './state/refusals.ts'
import { followOutage, hearAnswer } from './state/silence.ts'
import { noteSpaceLow } from './state/run-state.ts'
import { isKilling, isTrading } from './state/trading-mode.ts'
import { adoptForFlatten, adoptUnclaimed } from './lifecycle/adopt.ts'
import { advanceFlatten, holdScope } from './lifecycle/flatten.ts'
import { advanceCloses } from './lifecycle/close-part.ts'
import { obeyByHand } from './lifecycle/hand-commands.ts'
import { judgeWorstCase } from './lifecycle/judge-worst-case.ts'
import { judgeExits } from './lifecycle/judge-exits.ts'
import { judgeKeptExits } from './lifecycle/judge-kept-exits.ts'
import { hearOfExits, moveStops, takeMoveAnswer } from './lifecycle/move-stops.ts'
import { judgeLiquidation } from './lifecycle/judge-liquidation.ts'
import { judgeLosses } from './lifecycle/judge-losses.ts'
import { releaseScope } from './lifecycle/release.ts'
import { judgePace } from './state/limit-pace.ts'
import { judgeDisputes } from './lifecycle/judge-disputes.ts'
import { answerCall, makeAccountCalls } from './strategies/account-calls.ts'
import { expirePlaces, recordDueStates, takeDecision } from './strategies/take-decision.ts'
import { haltStrategy, takeDecisionFailure } from './lifecycle/strategy-failures.ts'
import { advanceLeavings } from './lifecycle/advance-leavings.ts'
import { takeSignal } from './strategies/take-signal.ts'
import { takeSnapshot } from './strategies/ask-to-decide.ts'

export function handleStep(core: Core, event: EngineEvent, now: number): readonly Effect[] {
  const touched = applyEvent(core, event, now)
  judgeChanges(core, event)
  planAndSettle(core, event, touched)
  advanceProcedures(core, event)
  return core.effects
}

/** Events come several times a second, so after such a silence the process stood still. */
const SLEPT_MS = 5000

/** @returns instruments that the event may concern; undefined: all */
function applyEvent(core: Core, event: EngineEvent, now: number): readonly string[] | undefined {
  if (core.now !== 0 && now - core.now >= SLEPT_MS) postponeDeadlines(core, now - core.now)
  // A decision changes only what it records, and a due poll nothing yet: no new moment.
  if ((event.kind !== 'decided' && event.kind !== 'pollDue') || now !== core.now)
    beginMoment(core.changes)
  beginStep(core, now)
  const touched = touchedBy(core, event)
  const { roster } = core.settings
  // A command is judged by the figures of this moment, also after the process stood still.
  if (event.kind === 'commanded') judgeMoney(core, TIME_PASSED)
  if (!roster || !isOfDeparted(core, event)) handleEvent(core, event)
  return roster ? touched?.filter((symbol) => core.instruments.has(symbol)) : touched
}

function postponeDeadlines(core: Core, sleptMs: number): void {
  for (const instrument of core.instruments.values())
    postponeResolutionDeadline(instrument, sleptMs)
  postponeStopDeadlines(core, sleptMs)
  postponeKillDeadlines(core, sleptMs)
}

const TIME_PASSED: EngineEvent = { kind: 'timePassed' }

const BEAR_ON_MONEY: ReadonlySet<EngineEvent['kind']> = new Set([
  'positionRead',
  'fillsRead',
  'timePassed',
  'commanded',
])

function judgeChanges(core: Core, event: EngineEvent): void {
  const { disputes, losses, settings, names } = core
  const isPriceAwaited =
    event.kind === 'snapshotTaken' && (disputes.open.size > 0 || losses.awaited.size > 0)
  if (isPriceAwaited || BEAR_ON_MONEY.has(event.kind)) judgeMoney(core, event)
  const { rateLimitedPerMinute, unknownOrdersMax } = settings.limits
  if (core.exits) judgeExits(core, event)
  if (core.keptExits && event.kind === 'snapshotTaken') moveStops(core)
  const mayBeUnkept = core.book.orderedExits.size > 0 || core.unkeptExits.size > 0
  if (mayBeUnkept && (event.kind === 'fillsRead' || event.kind === 'exitsListed'))
    judgeKeptExits(core)
  if (rateLimitedPerMinute !== undefined || unknownOrdersMax !== undefined) judgePace(core, event)
  if (event.kind === 'timePassed') forgetRefusals(core)
  if (names.search !== undefined) searchNames(core)
  if (names.suspected.size > 0) judgeSuspected(core)
  if (doFillsWait(core)) settleWaitingFills(core)
  if (core.unlisted.symbols.size > 0) listResting(core)
  if (core.run.flatBeforeStop || core.book.restrictions.size > 0 || core.reductions.size > 0)
    adoptForFlatten(core)
}

function judgeMoney(core: Core, event: EngineEvent): void {
  const compared = judgeDisputes(core, event)
  judgeLosses(core, event, compared)
  if (compared.length === 0) return
  if (core.settings.liquidation) judgeLiquidation(core, compared)
  if (core.settings.survives) judgeWorstCase(core, compared)
}

function doFillsWait({ book, readings }: Core): boolean {
  return book.orphans.size > 0 || readings.orphans.size > 0
}

function planAndSettle(
  core: Core,
  event: EngineEvent,
  touched: readonly string[] | undefined,
): void {
  if (core.changes.notes.size > 0 || !isTrading(core))
    planDueInstruments(core, event.kind === 'snapshotTaken' ? waitingForPrices(core) : touched)
  // A resolution that has just ended may have found the order of waiting fills. If they are adopted
  // instead, nothing leaves before what rests is listed.
  if (doFillsWait(core)) settleWaitingFills(core)
  if (core.unlisted.symbols.size > 0) listResting(core)
  if (core.book.calls.size > 0) makeAccountCalls(core)
}

function advanceProcedures(core: Core, event: EngineEvent): void {
  const { silence } = core
  if (!core.run.start.isOver) advanceStart(core)
  if (core.book.restrictions.size > 0) {
    advanceFlatten(core)
    advanceCloses(core)
  }
  if (core.run.kill) advanceKill(core)
  if (core.run.flatBeforeStop) stopWhenFlat(core)
  if (core.run.stop) advanceStop(core)
  if (core.book.leavings.size > 0) advanceLeavings(core)
  if (silence.calls.size > 0 || silence.outage) followOutage(core, event)
}

/** The instrument of a position reading may have left. */
function isOfDeparted({ instruments }: Core, event: EngineEvent): boolean {
  const { kind } = event
  if (kind === 'positionRead') return !instruments.has(event.reading.symbol)
  if (kind === 'positionUnreadable') return !instruments.has(event.symbol)
  if (kind !== 'readFailed' || !event.what.startsWith(POSITION)) return false
  return !instruments.has(event.what.slice(POSITION.length))
}

const POSITION = 'position '

function handleEvent(core: Core, event: EngineEvent): void {
  switch (event.kind) {
    case 'started':
      return startRun(core)
    case 'clockSynchronised':
      return event.isPublic === true
        ? noteClockMeasured(core, event.offsetMs)
        : noteClockSynchronised(core, event.offsetMs)
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
      hearAnswer(core, event)
      return answerBatch(core, event.batchId, event.answer)
    case 'cancelAnswered':
      hearAnswer(core, event)
      return answerCancel(core, event.cancelId, event.answer)
    case 'callAnswered':
      return hearOfCall(core, event)
    case 'fillsRead':
      noteRead(core, event, 'fills')
      return takeFills(core, event.reading)
    case 'positionRead':
      noteRead(core, event, `position ${event.reading.symbol}`)
      return takePosition(core, event.reading)
    case 'positionUnreadable':
      hearAnswer(core, event)
      noteReadFailure(core, `position ${event.symbol}`, { reason: event.problem, isRefused: false })
      return takeUnreadablePosition(core, event)
    case 'candlesFetched':
      return takeFetchedCandles(core, event)
    case 'contractsRead':
      return noteContracts(core, event.contracts)
    case 'exitsListed':
    case 'exitsUnlisted':
      return hearOfExits(core, event)
    case 'feedRead':
      return noteFeed(core, event.feed, event.reading)
    case 'signalTaken':
      return takeSignal(core, event)
    case 'readFailed':
      return hearOfFailure(core, event)
    case 'pollDue':
      return pollAccount(core, event.what)
    case 'commanded':
      return handleCommand(core, event.command)
    case 'spaceMeasured':
      return noteSpace(core, event)
    case 'timePassed':
      expirePlaces(core)
      recordDueStates(core)
      return pruneBook(core)
    default:
      return unreachable(event)
  }
}

function noteRead(core: Core, event: EngineEvent, what: string): void {
  if (core.silence.calls.size > 0) hearAnswer(core, event)
  if (core.readings.failures.size > 0) noteReadFailure(core, what, undefined)
}

/** The core's own calls move stops; all others are of strategies. */
function hearOfCall(core: Core, { callId, answer }: EventOf<'callAnswered'>): void {
  if (!takeMoveAnswer(core, callId, answer)) answerCall(core, callId, answer)
}

function noteSpace(core: Core, { isLow, freeBytes }: EventOf<'spaceMeasured'>): void {
  noteSpaceLow(core.run, isLow ? core.now : undefined)
  announce(core, isLow ? 'error' : 'warn', isLow ? 'disk.low' : 'disk.enough', { freeBytes })
}

function useGrant(core: Core, endpoint: GrantedEndpoint): void {
  noteGranted(core, endpoint)
  if (endpoint === 'batchPlaceOrder') placeBatch(core)
  else if (isCutting(core)) cancelEverything(core)
  else sendCancel(core)
}

/** Called before the event is handled, which may close the calls that name instruments. */
function touchedBy(core: Core, event: EngineEvent): readonly string[] | undefined {
  switch (event.kind) {
    // Decisions on a snapshot are events of their own; a grant plans by itself.
    case 'snapshotTaken':
    case 'granted':
    case 'clockSynchronised':
    case 'clockUnsynchronised':
    case 'candlesFetched':
    case 'contractsRead':
    case 'exitsListed':
    case 'exitsUnlisted':
    case 'feedRead':
    case 'signalTaken':
    case 'callAnswered':
    case 'spaceMeasured':
      return NONE
    case 'decided':
      return core.settings.strategies.get(event.strategyId)?.symbols ?? NONE
    case 'positionRead':
      return [event.reading.symbol]
    case 'positionUnreadable':
      return [event.symbol]
    case 'batchAnswered':
      return listSymbol(core.calls.batches.get(event.batchId)?.symbol)
    case 'cancelAnswered':
      return core.calls.cancels.get(event.cancelId)?.symbols ?? NONE
    case 'started':
    case 'decisionFailed':
    case 'fillsRead':
    case 'readFailed':
    case 'pollDue':
    case 'commanded':
    case 'timePassed':
      return undefined
    default:
      return unreachable(event)
  }
}

/**
 * Unsettled instruments that waited for these prices, unless a strategy is asked about them: its
 * decision, a later event, plans them.
 */
function waitingForPrices({
  changes: { notes },
  effects,
  instruments,
  settings,
}: Core): readonly string[] {
  const asked = effects.flatMap((effect) => (effect.kind === 'decide' ? [effect.strategyId] : []))
  const decided = new Set(asked.flatMap((id) => settings.strategies.get(id)?.symbols ?? NONE))
  const waiting: string[] = []
  for (const symbol of instruments.keys())
    if (notes.get(symbol)?.plannedIn !== undefined && !decided.has(symbol)) waiting.push(symbol)
  return waiting
}

const NONE: readonly string[] = []

function listSymbol(symbol: string | undefined): readonly string[] {
  return symbol === undefined ? NONE : [symbol]
}

function planDueInstruments(core: Core, touched: readonly string[] | undefined): void {
  const { changes } = core
  if (!isTrading(core)) {
    for (const symbol of touched ?? core.instruments.keys()) {
      advanceInstrument(core, symbol)
      noteChanged(changes, symbol)
    }
    return
  }
  for (const symbol of touched ?? core.instruments.keys()) {
    if (!isPlanDue(changes, symbol)) continue
    const isDenied = changes.notes.get(symbol)?.denied !== undefined
    if (!isDenied || !isStillDenied(core, symbol)) advanceInstrument(core, symbol)
  }
}

function advanceInstrument(core: Core, symbol: string): void {
  const instrument = instrumentOf(core, symbol)
  beginPlanning(core.changes, symbol)
  if (instrument.resolution) advanceResolution(core, instrument)
  scheduleInstrument(core, instrument)
}

/** A stop needs these readings until it asks for its own last ones. */
function pollAccount(core: Core, what: 'fills' | 'positions'): void {
  const { phase, stop } = core.run
  const isStopping = phase === 'stopping' && stop?.phase !== 'proving'
  if (phase !== 'running' && !isStopping) return
  if (what === 'fills') askForFills(core)
  else for (const symbol of core.instruments.keys()) askForPosition(core, symbol)
}

function handleCommand(core: Core, command: EngineCommand): void {
  if (isByHand(command)) return obeyByHand(core, command)
  switch (command.kind) {
    case 'stop':
      if (isKilling(core)) return stopWhenKilled(core, command.policy)
      return askForStop(core, command.policy)
    case 'restrict':
    case 'flatten':
      return holdScope(core, command)
    case 'adopt':
      return adoptUnclaimed(core, command)
    case 'haltStrategy':
      return haltStrategy(core, command)
    case 'release':
      return releaseScope(core, command)
    case 'reload':
      return record(core, { ...command, at: core.now }, true)
    case 'kill':
      return startKill(core, command)
    case 'releaseKill':
      return releaseKill(core, command)
    default:
      return unreachable(command)
  }
}
