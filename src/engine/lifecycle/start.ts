import { type Order } from '../../domain/order.ts'
import { netLots } from '../../domain/position.ts'
import { isHaltedItself, killOf } from '../book/book.ts'
import { isHeldUnreadable } from '../resolution/unreadable.ts'
import { haltQuarantined } from '../resolution/quarantine.ts'
import { cancelsAtStart, startResolution } from '../resolution/resolution.ts'
import { dropUnneededCandles, listMissingCandles } from '../state/candles.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { announce, type Core, record, type InstrumentState } from '../state/core.ts'
import { noteLateCancel, noteUnansweredCancel } from '../state/instrument-state.ts'
import { askForFills, askForPosition } from '../state/readings.ts'
import { noteStartStage, enterPhase, noteStarted } from '../state/run-state.ts'
import { dropPlaces, dropUncountable } from '../strategies/take-decision.ts'
import { beginKill } from './kill.ts'

/**
 * How a run begins, in this order; everything before it is the driver's: the lock, the journal, the kill file,
 * the exchange's clock, and a pause for the rate windows of a run before (the limiter gives no grant in it; not with
 * the embedded simulator).
 *
 *     boot recorded, SENT ⇒ UNKNOWN ──► reading ──agrees──► resolving ──idle──► checking ──agrees──► running
 *                                                              └──nothing to resolve, or killed────────────►
 *
 * `reading` until fills and positions agree with the book · `resolving` until it is proved what became of unknown
 * orders, and of what rests where `onRestart` says cancel; a halted instrument is not waited for · `checking` until
 * fills and positions, read after all that, agree once more; back to `resolving` where a halted instrument was
 * released meanwhile. Strategies run only then.
 */

/** The readings of a start are asked for again when they do not come, or prove nothing yet. */
const READ_AGAIN_MS = 500

/** Our clock was set back while nothing ran: the times until which orders may wait say nothing any more. */
const SET_BACK_MS = 1000

/**
 * A run begins, on the rebuilt book and with the exchange's clock measured: the boot is recorded before
 * anything else, what was on the wire when the last run ended is unknown, and the account is read.
 */
export function startRun(core: Core): void {
  const { settings, book } = core
  const wasSetBack = core.now < book.recordedAt - SET_BACK_MS
  noteStarted(core.run, core.now)
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
        [...settings.instruments].map(([symbol, { tick, lot }]) => [
          symbol,
          { tick: tick.step, lot: lot.step },
        ]),
      ),
    },
    true,
  )
  markInFlightUnknown(core)
  dropUncountable(core)
  dropUnneededCandles(core)
  if (wasSetBack) dropWaiting(core)
  haltQuarantined(core)
  if (killOf(book) !== undefined) beginKill(core)
  for (const instrument of core.instruments.values()) {
    const cancelledAt = book.cancels.get(instrument.symbol)
    if (cancelledAt !== undefined) noteUnansweredCancel(core, instrument, cancelledAt)
    if (settings.hasRetreated) noteLateCancel(instrument, core.now + settings.execution.acceptanceWindowMs)
  }
  announce(core, 'info', 'recovery.started', { epoch: book.epoch, ...countFound(core) })
  askForAccount(core)
}

function markInFlightUnknown(core: Core): void {
  const sent = openOrders(core).filter((order) => order.state === 'sent')
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

/** Nobody knows how long they have waited: what is still wanted is decided anew. */
function dropWaiting(core: Core): void {
  const reason = 'our clock was set back since it was decided'
  dropPlaces(core, reason)
  const queued = openOrders(core).filter(({ state }) => state === 'queued')
  if (queued.length === 0) return
  const orders = queued.map(({ terms: { clientOid }, attempts }) => ({
    clientOid,
    state: attempts === 0 ? ('expired' as const) : ('unknown' as const),
  }))
  record(core, { kind: 'expire', at: core.now, orders, places: [], reason })
}

function openOrders(core: Core): readonly Order[] {
  return [...core.book.open.values()].flatMap((orders) => [...orders.values()])
}

function countFound(core: Core): Record<string, unknown> {
  const open = openOrders(core)
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
    ...(core.book.restrictions.size > 0 ? { restrictions: [...core.book.restrictions.values()] } : {}),
  }
}

function askForAccount(core: Core): void {
  const { start } = core.run
  noteStartStage(core.run, { ...start, askedAt: core.now })
  askForFills(core)
  for (const instrument of core.instruments.values()) {
    if (!isReadSince(instrument, start.readSince)) askForPosition(core, instrument.symbol)
  }
}

/** `since`: Unix ms, our clock; 0 for ever in this run. */
function isReadSince({ position: { agreedAt } }: InstrumentState, since: number): boolean {
  return agreedAt > 0 && agreedAt >= since
}

/** What cannot be read holds the other instruments up no longer (MKT4). */
function isAccountedFor(core: Core, instrument: InstrumentState): boolean {
  return isReadSince(instrument, core.run.start.readSince) || isHeldUnreadable(core.book, instrument.symbol)
}

/** Moves a start on as far as readings allow; runs after every event. */
export function advanceStart(core: Core): void {
  const { start, kill } = core.run
  if (core.run.phase !== 'starting' || core.book.epoch === 0 || start.askedAt === 0) return
  if (start.phase === 'resolving') return endResolving(core)
  if ([...core.instruments.values()].every((instrument) => isAccountedFor(core, instrument))) {
    // A kill waits for nothing: what it cancels and proves is more than a start would.
    if (kill) return beginRunning(core)
    return start.phase === 'checking' ? endChecking(core) : resolveInstruments(core)
  }
  if (core.now - start.askedAt >= READ_AGAIN_MS) askForAccount(core)
}

/** Instruments with unknown orders are resolved anyway; those with resting orders here, if `onRestart` says cancel. */
function resolveInstruments(core: Core): void {
  noteStartStage(core.run, { ...core.run.start, phase: 'resolving' })
  for (const instrument of core.instruments.values()) {
    if (instrument.phase === 'idle' && needsResolution(core, instrument.symbol))
      startResolution(core, instrument, 'restart')
  }
  if ([...core.instruments.values()].every((instrument) => instrument.phase === 'idle')) beginRunning(core)
}

/** An instrument that is halted holds the others up no longer (ORD4). */
function isResolved({ instruments, book }: Core): boolean {
  return [...instruments.values()].every(
    (instrument) => instrument.phase === 'idle' || isHaltedItself(book, instrument.symbol),
  )
}

/** One that was halted, and released meanwhile, is waited for after all. */
function endChecking(core: Core): void {
  if (isResolved(core)) return beginRunning(core)
  noteStartStage(core.run, { ...core.run.start, phase: 'resolving' })
}

function endResolving(core: Core): void {
  if (!isResolved(core)) return
  noteStartStage(core.run, { phase: 'checking', readSince: core.now, askedAt: core.now })
  askForAccount(core)
}

function beginRunning(core: Core): void {
  enterPhase(core.run, 'running')
  const warmingUp = listMissingCandles(core)
  announce(core, 'info', killOf(core.book) ? 'daemon.killed' : 'daemon.running', {
    epoch: core.book.epoch,
    onRestart: core.settings.onRestart,
    ...countFound(core),
    ...(warmingUp.length > 0 && { warmingUp }),
  })
}

/** Where the last run had sent a cancel-all, recorded or not, what rests is not known, whatever the policy says. */
function needsResolution(core: Core, symbol: string): boolean {
  const { book, settings } = core
  return settings.hasRetreated === true || book.cancels.has(symbol) || cancelsAtStart(core, symbol)
}
