import { canRest, type Order } from '../../domain/order.ts'
import { openOrdersOf } from '../book/book.ts'
import { askForCancel, hasResting, isUnderCancel } from '../state/open-cancels.ts'
import { clockUnsynchronised } from '../state/clock-state.ts'
import { announce, type Core, exchangeNow, record } from '../state/core.ts'
import { settleByEvidence } from './evidence.ts'
import { fillsSince } from '../state/fills-since.ts'
import { halt } from '../state/halt.ts'
import { disownLeftOrphans, haltOnContradiction } from './quarantine.ts'
import { type Resolution, type ResolutionCause, type InstrumentState } from '../state/instrument-state.ts'
import { withReplacement } from './replacement.ts'
import { expectDisplaced } from './displaced-orders.ts'

/** Two reads of the fills must agree before an order is called absent, this far apart. */
const READS_APART_MS = 500
/** After this long beyond its own waits a person must look: the instrument is halted, the resolution goes on (ORD4). */
const PATIENCE_MS = 60_000

/**
 * Stops placing on the instrument until it is proved what rests and what was filled. An unknown request may
 * still be accepted until its horizon has passed, so the cancel-all waits for that.
 */
export function startResolution(core: Core, instrument: InstrumentState, cause: ResolutionCause): void {
  const unknown = [...openOrdersOf(core.book, instrument.symbol)].filter((order) => order.state === 'unknown')
  const acceptanceDeadlineAt = unknown
    .filter(({ unansweredAt }) => unansweredAt > 0)
    .reduce(
      (latest, order) => Math.max(latest, order.unansweredAt + core.settings.execution.acceptanceWindowMs),
      lostRecordsUntil(core),
    )
  const notBefore = core.now + Math.max(0, acceptanceDeadlineAt - exchangeNow(core))
  instrument.phase = 'resolving'
  instrument.wantsBatchSince = undefined
  instrument.wantsCancel = false
  instrument.crossedSince.clear()
  instrument.resolution = {
    cause,
    stage: 'waiting',
    cancels: needsCancel(core, instrument, cause),
    notBefore,
    acceptanceDeadlineAt,
    patientUntil: notBefore + PATIENCE_MS,
    provedAt: 0,
    fillsReads: 0,
    fillsReadAt: 0,
    positionRead: false,
    askedAt: 0,
  }
  if (instrument.resolution.cancels) core.stop?.cancelled.add(instrument.symbol)
  announce(core, ROUTINE_CAUSES.has(cause) ? 'debug' : 'warn', 'instrument.resolving', {
    symbol: instrument.symbol,
    cause,
    unknown: unknown.length,
    waitMs: notBefore - core.now,
  })
  advanceResolution(core, instrument)
}

/** Unix ms, exchange clock: orders of a lost part of the journal may still be accepted until then. */
function lostRecordsUntil({ book, settings, offsetMs = 0 }: Core): number {
  return book.recordsLostAt === 0 ? 0 : book.recordsLostAt + offsetMs + settings.execution.acceptanceWindowMs
}

const ROUTINE_CAUSES: ReadonlySet<ResolutionCause> = new Set(['unwanted', 'command', 'cancelledAlong'])

/** Where orders are unknown, or another's cancel-all came by, there may be nothing that could rest. */
function needsCancel(core: Core, { symbol }: InstrumentState, cause: ResolutionCause): boolean {
  if (cause !== 'unknown' && cause !== 'cancelledAlong') return true
  if (cause === 'cancelledAlong' ? hasResting(core, symbol) : core.book.cancels.has(symbol)) return true
  // What rests is taken away at a start too, with the same resolution.
  if (core.mode === 'starting' && cancelsAtStart(core, symbol)) return true
  return [...openOrdersOf(core.book, symbol)].some(
    ({ state, terms }) => state === 'unknown' && canRest(terms),
  )
}

/** Whether the operator wants what rests taken away at a start, and something does. */
export function cancelsAtStart(core: Core, symbol: string): boolean {
  return core.settings.onRestart === 'cancel' && hasResting(core, symbol)
}

/** Moves a resolution on as far as time and readings allow. */
export function advanceResolution(core: Core, instrument: InstrumentState): void {
  const { resolution } = instrument
  if (!resolution) return
  if (core.now > resolution.patientUntil) {
    resolution.patientUntil = Number.POSITIVE_INFINITY
    const todo = 'it goes on by itself when the exchange answers again; then release the instrument'
    halt(
      core,
      instrument.symbol,
      `orders stay unknown: no end of ${resolution.stage} (${resolution.cause} orders); ${todo}`,
    )
  }
  if (
    resolution.stage === 'waiting' &&
    core.now >= resolution.notBefore &&
    isPastAcceptanceDeadline(core, resolution)
  ) {
    resolution.stage = resolution.cancels ? 'cancelling' : 'settling'
    resolution.provedAt = core.now
  }
  if (resolution.stage === 'cancelling' && !isUnderCancel(core, instrument.symbol)) askForCancel(core)
  if (resolution.stage !== 'settling') return
  if (isProved(core, instrument, resolution)) finishResolution(core, instrument, resolution)
  else askForReadings(core, instrument, resolution)
}

/** Judged by the clock as it is known now, not as it was when the resolution began: either may have been set since. */
function isPastAcceptanceDeadline(core: Core, { acceptanceDeadlineAt }: Resolution): boolean {
  if (acceptanceDeadlineAt === 0) return true
  return clockUnsynchronised(core) === undefined && exchangeNow(core) >= acceptanceDeadlineAt
}

/** No cancel-all can come any more, and enough was read, late enough, to say what became of everything (A2, A5). */
function isProved(core: Core, instrument: InstrumentState, resolution: Resolution): boolean {
  if (core.now < instrument.lateUntil || isUnderCancel(core, instrument.symbol)) return false
  const concerned = concernedOrders(core, instrument, resolution)
  // A cancel-all for others' sake that found nothing here to take proves itself.
  if (resolution.cause === 'cancelledAlong' && concerned.length === 0) return true
  const reads = concerned.some(({ state }) => state === 'unknown') ? 2 : 1
  return resolution.positionRead && resolution.fillsReads >= reads
}

function concernedOrders(
  core: Core,
  instrument: InstrumentState,
  { cancels, cause }: Resolution,
): readonly Order[] {
  return [...openOrdersOf(core.book, instrument.symbol)].filter(
    ({ state }) =>
      state === 'unknown' ||
      (cancels && state === 'live') ||
      (cause === 'released' && state === 'quarantined'),
  )
}

/** Unix ms, our clock: what is asked for from here on shows every fill of the orders in question (A2, A4). */
function readableFrom(core: Core, instrument: InstrumentState, resolution: Resolution): number {
  const { fillVisibilityMs, matchingLagMs } = core.settings.execution
  const takes = concernedOrders(core, instrument, resolution).some(({ terms }) => !canRest(terms))
  return resolution.provedAt + fillVisibilityMs + (takes ? matchingLagMs : 0)
}

function askForReadings(core: Core, instrument: InstrumentState, resolution: Resolution): void {
  if (core.now < readableFrom(core, instrument, resolution) || core.now - resolution.askedAt < READS_APART_MS)
    return
  resolution.askedAt = core.now
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
  if (!resolution.positionRead) core.effects.push({ kind: 'readPosition', symbol: instrument.symbol })
}

/** A complete read of the fills was asked for at `requestedAt` (our clock): it may be the proof. */
export function noteFillsForResolution(core: Core, instrument: InstrumentState, requestedAt: number): void {
  const { resolution } = instrument
  if (resolution?.stage !== 'settling' || requestedAt < readableFrom(core, instrument, resolution)) return
  if (resolution.fillsReads > 0 && requestedAt - resolution.fillsReadAt < READS_APART_MS) return
  resolution.fillsReads += 1
  resolution.fillsReadAt = requestedAt
}

export function notePositionForResolution(
  core: Core,
  instrument: InstrumentState,
  requestedAt: number,
): void {
  const { resolution } = instrument
  if (resolution?.stage !== 'settling') return
  if (requestedAt >= readableFrom(core, instrument, resolution)) resolution.positionRead = true
}

/** Everything is proved: each order gets its end, displaced are wanted again, and the instrument is free. */
function finishResolution(core: Core, instrument: InstrumentState, resolution: Resolution): void {
  const { symbol } = instrument
  const why = resolution.cancels ? 'cancelled' : 'not accepted in time'
  const settled = settleByEvidence(core, symbol, concernedOrders(core, instrument, resolution), why)
  const orders = settled.map((entry) => withReplacement(core, resolution.cause, entry))
  if (orders.length > 0 || core.book.cancels.has(symbol)) {
    record(core, { kind: 'settle', at: core.now, symbol, isResolved: true, orders }, true)
  }
  for (const { clientOid, reason } of orders) announceEnd(core, clientOid, reason)
  if (resolution.cause === 'released') disownLeftOrphans(core, symbol)
  haltOnContradiction(core, symbol, orders)
  const ended = orders.flatMap(({ clientOid }) => core.book.orders.get(clientOid)?.terms ?? [])
  expectDisplaced(instrument, ended, resolution.provedAt)
  instrument.phase = 'idle'
  instrument.resolution = undefined
  announce(core, 'debug', 'instrument.resolved', { symbol, settled: orders.length })
}

export function announceEnd(core: Core, clientOid: Order['terms']['clientOid'], reason: string): void {
  const order = core.book.orders.get(clientOid)
  announce(core, 'info', order?.state === 'queued' ? 'order.queuedAgain' : 'order.ended', {
    clientOid,
    symbol: order?.terms.symbol,
    state: order?.state,
    filled: order?.filledLots,
    reason,
  })
}
