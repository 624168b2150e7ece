import { type Instrument, isInverse } from '../../domain/instrument.ts'
import { isFlat, netLots } from '../../domain/position.ts'
import type { InstrumentGrids } from '../../domain/record.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { accountHoldingOf, allOpenOrders, isHaltedItself, killOf } from '../book/book.ts'
import { waitsForOwnerOfFills } from '../resolution/evidence.ts'
import { hasUnreadableRows, isHaltedForUnreadable } from '../resolution/unreadable.ts'
import { haltQuarantined } from '../resolution/resolved-orders.ts'
import { cancelsAtStart, startResolution } from '../resolution/resolution.ts'
import { dropUnneededCandles, listMissingCandles } from '../state/candles.ts'
import { dropUnconfiguredExits } from '../state/exits.ts'
import { noteChanged } from '../state/changes.ts'
import { exchangeNow } from '../state/market-state.ts'
import { announce, type Core, record, type InstrumentState } from '../state/core.ts'
import {
  isProved,
  noteLateCancel,
  enterStartStage,
  noteUnansweredCancel,
} from '../state/instrument-state.ts'
import { type ChangedRules, listChangedRules } from '../state/roster.ts'
import { askForFills, askForPosition, askForPositionSoon } from '../state/readings.ts'
import { enterPhase, holdWishesOn, noteStartProgress, noteStartedAt } from '../state/run-state.ts'
import { dropPlaces, dropUncountable } from '../strategies/take-decision.ts'
import { endUnconfiguredUniverses } from '../strategies/judge-universes.ts'
import { enterCutting } from './kill.ts'

/**
 * Once the boot is recorded, and what was on the wire is unknown, each instrument goes its own way
 * (docs/start-and-stop.md says what ends each stage):
 *
 *     reading ──agrees──► resolving ──idle──► checking ──agrees──► proved
 *        │                    ▲                  │                    ▲
 *        │                    └──halt released───┘                    │
 *        └──nothing to resolve, or killed─────────────────────────────┘
 *
 * With the first proved instrument the run is `running`. The others count in the account's limits
 * as the book says.
 */

const READ_AGAIN_MS = 500
const PROGRESS_LOGGED_EVERY_MS = 2000

/**
 * If the last record is this far in the future, our clock was set back, and the deadlines in the
 * journal mean nothing.
 */
const SET_BACK_MS = 1000

export function startRun(core: Core): void {
  const { settings, book } = core
  const wasSetBack = core.now < book.recordedAt - SET_BACK_MS
  noteStartedAt(core.run, core.now)
  const changed = [...listChangedRules(settings, book).values()]
  const taken = changed.filter(({ conflict }) => conflict === undefined)
  record(
    core,
    {
      kind: 'boot',
      at: core.now,
      exchangeAt: exchangeNow(core),
      epoch: book.epoch + 1,
      version: settings.version,
      environment: settings.environment,
      positionMode: settings.positionMode,
      configHash: settings.configHash,
      strategies: [...settings.strategies.keys()],
      grids: Object.fromEntries(
        [...settings.instruments].map(([symbol, instrument]) => [symbol, gridsOf(instrument)]),
      ),
      ...(taken.length > 0 && {
        rules: Object.fromEntries(taken.map(({ symbol, is }) => [symbol, is])),
      }),
    },
    true,
  )
  for (const rules of changed) announceRules(core, rules)
  markInFlightUnknown(core)
  dropUncountable(core)
  endUnconfiguredUniverses(core)
  dropUnneededCandles(core)
  dropUnconfiguredExits(core)
  if (wasSetBack) dropWaiting(core)
  haltQuarantined(core)
  if (killOf(book) !== undefined) enterCutting(core)
  for (const instrument of core.instruments.values()) {
    const cancelledAt = book.cancels.get(instrument.symbol)
    if (cancelledAt !== undefined)
      noteUnansweredCancel(core, instrument, { requestAt: cancelledAt })
    if (settings.hasRetreated)
      noteLateCancel(instrument, core.now + settings.execution.acceptanceWindowMs)
  }
  announce(core, 'info', 'recovery.started', { epoch: book.epoch, ...countFound(core) })
  noteStartProgress(core.run, { saidAt: core.now })
  askForAccount(core)
}

function announceRules(core: Core, { symbol, was, is, differing, conflict }: ChangedRules): void {
  for (const name of differing) {
    const reason = `the exchange has changed ${name} of ${symbol}: ${was[name] ?? 'not said'} before, ${is[name] ?? 'not said'} now`
    announce(core, 'warn', 'contract.changed', { symbol, reason })
  }
  if (conflict === undefined) return
  const { tick, lot } = conflict.was
  const reason = `it is traded with tickSize ${tick} and lotSize ${lot} as before, and the exchange may reject orders: the journal cannot convert ${conflict.number}; close what is held`
  announce(core, 'warn', 'contract.differs', { symbol, reason })
}

function gridsOf(instrument: Instrument): InstrumentGrids {
  const { tick, lot } = instrument
  return { tick: tick.step, lot: lot.step, ...(isInverse(instrument) && { isInverse: true }) }
}

function markInFlightUnknown(core: Core): void {
  const sent = allOpenOrders(core.book).filter((order) => order.state === 'sent')
  if (sent.length === 0) return
  record(core, {
    kind: 'outcome',
    at: core.now,
    batchId: core.book.batchId,
    items: sent.map((order) => ({
      clientOid: order.terms.clientOid,
      outcome: 'unknown',
      code: 'RESTART',
      message: 'it was on the wire when the daemon ended',
    })),
  })
}

/** How long waiting orders have waited is unknown, so strategies decide again. */
function dropWaiting(core: Core): void {
  const reason = 'our clock was set back since it was decided'
  dropPlaces(core, reason)
  const queued = allOpenOrders(core.book).filter(({ state }) => state === 'queued')
  if (queued.length === 0) return
  const orders = queued.map(({ terms: { clientOid }, attempts }) => ({
    clientOid,
    state: attempts === 0 ? ('expired' as const) : ('unknown' as const),
  }))
  record(core, { kind: 'expire', at: core.now, orders, places: [], reason })
}

function countFound(core: Core): Record<string, unknown> {
  const open = allOpenOrders(core.book)
  return {
    openOrders: open.filter((order) => order.state === 'live').length,
    unknownOrders: open.filter((order) => order.state === 'unknown').length,
    waitingOrders: open.filter((order) => order.state === 'queued').length,
    strategyStates: core.book.strategyStates.size,
    positions: Object.fromEntries(
      [...core.book.account]
        .filter(([, holding]) => netLots(holding) !== 0)
        .map(([symbol, holding]) => [symbol, netLots(holding)]),
    ),
    ...(core.book.restrictions.size > 0
      ? { restrictions: [...core.book.restrictions.values()] }
      : {}),
  }
}

/** Fills come first, since no position is proved without them. */
function askForAccount(core: Core): void {
  noteStartProgress(core.run, { askedAt: core.now })
  askForFills(core)
  for (const instrument of inOrderOfNeed(core)) {
    if (isAccountedFor(core, instrument)) continue
    if (instrument.start.stage === 'reading') askForPosition(core, instrument.symbol)
    else if (instrument.start.stage === 'checking') askForPositionSoon(core, instrument.symbol)
  }
}

/** Positions and open orders count in the limits of all, so their instruments come first. */
function inOrderOfNeed({ instruments, book, settings }: Core): readonly InstrumentState[] {
  const traded = new Set([...settings.strategies.values()].flatMap(({ symbols }) => symbols))
  const needOf = ({ symbol }: InstrumentState): number => {
    if ((book.open.get(symbol)?.size ?? 0) > 0 || !isFlat(accountHoldingOf(book, symbol))) return 0
    return traded.has(symbol) ? 1 : 2
  }
  return [...instruments.values()].sort((left, right) => needOf(left) - needOf(right))
}

/**
 * The position was read late enough and agrees. An instrument halted for unreadable rows is not
 * waited for (MKT4), nor by a kill one that cannot be read.
 */
function isAccountedFor(core: Core, { symbol, position, start }: InstrumentState): boolean {
  const isRead = position.agreedAt > 0 && position.agreedAt >= start.readSince
  if (isRead || isHaltedForUnreadable(core.book, symbol)) return true
  return core.run.kill !== undefined && hasUnreadableRows(core, symbol)
}

export function advanceStart(core: Core): void {
  const { start, phase } = core.run
  if (start.isOver || start.askedAt === 0 || phase === 'stopping' || phase === 'stopped') return
  if (core.readings.fillsKnownUntil > 0) {
    for (const instrument of core.instruments.values()) advanceInstrumentStart(core, instrument)
  }
  const unproved = unprovedOf(core)
  const proved = core.instruments.size - unproved.length
  if (phase === 'starting' && proved > 0 && areLossesKnown(core)) beginRunning(core, proved)
  if (unproved.length === 0) return endStart(core, phase === 'running')
  if (core.now - start.askedAt >= READ_AGAIN_MS) askForAccount(core)
  if (!start.hasEnded && core.now - start.saidAt >= PROGRESS_LOGGED_EVERY_MS)
    logProgress(core, proved)
}

/** Where losses are limited, trading begins only when all held positions were read. */
function areLossesKnown(core: Core): boolean {
  if (!core.settings.losses?.limits.has(ACCOUNT)) return true
  return [...core.instruments.values()].every(
    (instrument) =>
      isFlat(accountHoldingOf(core.book, instrument.symbol)) ||
      isAccountedFor(core, instrument) ||
      hasUnreadableRows(core, instrument.symbol),
  )
}

export function unprovedOf({ instruments }: Pick<Core, 'instruments'>): readonly string[] {
  return [...instruments.values()].flatMap((instrument) =>
    isProved(instrument) ? [] : instrument.symbol,
  )
}

/**
 * Each instrument was resolved, and this run's cancel-alls stand in the book, so nothing depends on
 * what the last run cancelled without a record. A halted instrument is resolved when released.
 */
export function isRetreatSettled({ settings, run, instruments, book, now }: Core): boolean {
  if (settings.hasRetreated !== true || !run.start.isOver || killOf(book) !== undefined)
    return false
  return [...instruments.values()].every(
    ({ symbol, phase, lateCancelUntil }) =>
      phase === 'idle' && now >= lateCancelUntil && !isHaltedItself(book, symbol),
  )
}

function advanceInstrumentStart(core: Core, instrument: InstrumentState): void {
  const { stage } = instrument.start
  if (stage === 'resolving') {
    if (isResolved(core, instrument)) enterChecking(core, instrument)
  } else if (stage !== 'proved' && isAccountedFor(core, instrument)) {
    if (stage === 'reading' && core.run.kill === undefined) resolveWhereNeeded(core, instrument)
    const isReady = isResolved(core, instrument)
    if (core.run.kill || (isReady && !waitsForOwnerOfFills(core, instrument.symbol)))
      enterProved(core, instrument)
    else if (!isReady) enterStartStage(instrument, { ...instrument.start, stage: 'resolving' })
  }
}

function resolveWhereNeeded(core: Core, instrument: InstrumentState): void {
  if (instrument.phase === 'idle' && cancelsOrMayHaveCancelled(core, instrument.symbol))
    startResolution(core, instrument, 'restart')
}

/** A halt ends the wait too (ORD4). */
function isResolved({ book }: Core, { phase, symbol }: InstrumentState): boolean {
  return phase === 'idle' || isHaltedItself(book, symbol)
}

function enterChecking(core: Core, instrument: InstrumentState): void {
  enterStartStage(instrument, { stage: 'checking', readSince: core.now })
  askForFills(core)
  askForPositionSoon(core, instrument.symbol)
}

function enterProved(core: Core, instrument: InstrumentState): void {
  enterStartStage(instrument, { ...instrument.start, stage: 'proved' })
  holdWishesOn(core.run, instrument.symbol, core.market.snapshots + 1)
  noteChanged(core.changes, instrument.symbol)
}

function beginRunning(core: Core, proved: number): void {
  enterPhase(core.run, 'running')
  noteStartProgress(core.run, { saidAt: core.now })
  const warmingUp = listMissingCandles(core)
  const instruments = core.instruments.size
  announce(core, 'info', killOf(core.book) ? 'daemon.killed' : 'daemon.running', {
    epoch: core.book.epoch,
    onRestart: core.settings.onRestart,
    ...countFound(core),
    ...(warmingUp.length > 0 && { warmingUp }),
    ...(proved < instruments && { proved, instruments }),
  })
}

function logProgress(core: Core, proved: number): void {
  noteStartProgress(core.run, { saidAt: core.now })
  const stages = Object.groupBy(core.instruments.values(), ({ start }) => start.stage)
  announce(core, 'info', 'recovery.progress', {
    proved,
    instruments: core.instruments.size,
    reading: stages.reading?.length ?? 0,
    resolving: stages.resolving?.length ?? 0,
    checking: stages.checking?.length ?? 0,
  })
}

/** @param wasRunning some instruments were traded before the last one was proved */
function endStart(core: Core, wasRunning: boolean): void {
  const { hasEnded } = core.run.start
  noteStartProgress(core.run, { isOver: true, hasEnded: true })
  if (!wasRunning || hasEnded) return
  const tookMs = core.now - core.run.startedAt
  announce(core, 'info', 'recovery.ended', { instruments: core.instruments.size, tookMs })
}

/**
 * True where `onRestart` says cancel, or where the last run may have sent a cancel-all. Unknown
 * orders need no mention here: `scheduleInstrument` has them resolved.
 */
function cancelsOrMayHaveCancelled(core: Core, symbol: string): boolean {
  const { book, settings } = core
  return settings.hasRetreated === true || book.cancels.has(symbol) || cancelsAtStart(core, symbol)
}
