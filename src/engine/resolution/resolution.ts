import { canRest, type Order } from '../../domain/order.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { killOf, openOrdersOf, restrictionOf } from '../book/book.ts'
import { noteChanged } from '../state/changes.ts'
import { clockUnsynchronised, exchangeNow, latestExchangeTime } from '../state/market-state.ts'
import {
  announce,
  type Core,
  record,
  type InstrumentState,
  type Resolution,
  type ResolutionCause,
} from '../state/core.ts'
import { halt } from '../state/trading-mode.ts'
import {
  enterResolving,
  hasOrder,
  hasResting,
  isStarting,
  leaveResolving,
  noteCancelResolution,
} from '../state/instrument-state.ts'
import { askForCancel, isUnderCancel } from '../state/open-calls.ts'
import { askForFills, askForPositionSoon } from '../state/readings.ts'
import { CANCELS, isSilent } from '../state/silence.ts'
import {
  disownLeftOrphans,
  expectDisplaced,
  foundFills,
  haltOnContradiction,
  withReplacement,
} from './resolved-orders.ts'
import { judgeUnownedFills, settleByEvidence } from './evidence.ts'
import { hasUnreadableRows, refusalOfInstrument } from './unreadable.ts'

/** Two reads of the fills must agree before an order is called absent. */
const READS_APART_MS = 500
/** The pause before a repetition doubles with each refusal in a row. */
const CANCEL_REPEAT_MS = 1000
const CANCEL_REPEAT_MS_MAX = 60_000
const URGENT_REPEAT_MS_MAX = 30_000
/**
 * ORD4: a resolution that takes so much longer than its own waits halts its instrument, and goes
 * on.
 */
const PATIENCE_MS = 60_000

const ROUTINE_CAUSES: ReadonlySet<ResolutionCause> = new Set([
  'unwanted',
  'command',
  'cancelledAlong',
])
const isRoutine = (cause: ResolutionCause): boolean => ROUTINE_CAUSES.has(cause)

/**
 * Nothing is placed on the instrument until it is proved what rests and what was filled:
 *
 *     waiting ──no order can be accepted──► cancelling ──answered──► settling ──proved──► idle
 *      ▲  │                                     │                     ▲
 *      │  └──────the same, and nothing can rest─┼─────────────────────┘
 *      └─────────the cancel-all failed──────────┘
 *
 * `settling` is over once fills and position were read late enough to know each order's fate.
 */
export function startResolution(
  core: Core,
  instrument: InstrumentState,
  cause: ResolutionCause,
): void {
  const { symbol } = instrument
  const unknown = [...openOrdersOf(core.book, symbol)].filter((order) => order.state === 'unknown')
  const acceptanceDeadlineAt = unknown
    .filter(({ unansweredAt }) => unansweredAt > 0)
    .reduce(
      (latest, order) =>
        Math.max(latest, order.unansweredAt + core.settings.execution.acceptanceWindowMs),
      lostOrdersUntil(core),
    )
  // Whatever the clocks say, a request that has left is accepted within one window from now, or
  // never.
  const waitMs = Math.min(
    acceptanceDeadlineAt - exchangeNow(core),
    core.settings.execution.acceptanceWindowMs,
  )
  const notBefore = core.now + Math.max(0, waitMs)
  enterResolving(instrument, {
    cause,
    stage: 'waiting',
    cancels: needsCancel(core, instrument, cause),
    notBefore,
    refusals: 0,
    refusal: '',
    acceptanceDeadlineAt,
    patientUntil: notBefore + PATIENCE_MS,
    silentSince: undefined,
    settlingSince: 0,
    fillsReads: 0,
    fillsAskedAt: 0,
    positionRead: false,
    askedAt: 0,
  })
  noteChanged(core.changes, symbol)
  announce(core, isRoutine(cause) ? 'debug' : 'warn', 'instrument.resolving', {
    symbol,
    cause,
    unknown: unknown.length,
    waitMs: notBefore - core.now,
  })
  advanceResolution(core, instrument)
}

/** Unix ms, exchange clock. */
function lostOrdersUntil(core: Core): number {
  const { book, settings, run } = core
  if (book.recordsLostAt === 0) return 0
  // Lost orders left before this run began, whatever the clock said at the repair.
  const leftBefore = Math.min(book.recordsLostAt, run.startedAt)
  return latestExchangeTime(core, leftBefore) + settings.execution.acceptanceWindowMs
}

function needsCancel(core: Core, instrument: InstrumentState, cause: ResolutionCause): boolean {
  const { symbol } = instrument
  if (cause !== 'unknown' && cause !== 'cancelledAlong') return true
  if (cause === 'cancelledAlong' ? hasResting(core, symbol) : core.book.cancels.has(symbol))
    return true
  // At a start the cancel-all also takes what rests.
  if (isStarting(core, instrument) && cancelsAtStart(core, symbol)) return true
  return [...openOrdersOf(core.book, symbol)].some(
    ({ state, terms }) => state === 'unknown' && canRest(terms),
  )
}

export function cancelsAtStart(core: Core, symbol: string): boolean {
  return core.settings.onRestart === 'cancel' && hasResting(core, symbol)
}

export function advanceResolution(core: Core, instrument: InstrumentState): void {
  const { resolution } = instrument
  if (!resolution) return
  haltIfTooLong(core, instrument, resolution)
  const notBefore = resolution.notBefore + refusedPauseMs(core, instrument, resolution)
  const isWaited = core.now >= notBefore && isPastAcceptanceDeadline(core, resolution)
  if (resolution.stage === 'waiting' && isWaited) {
    const state = mutable(resolution)
    state.stage = resolution.cancels ? 'cancelling' : 'settling'
    state.settlingSince = core.now
  }
  if (resolution.stage === 'cancelling' && !isUnderCancel(core, instrument.symbol))
    askForCancel(core)
  if (resolution.stage !== 'settling') return
  if (canFinish(core, instrument, resolution)) finishResolution(core, instrument, resolution)
  else askForReadings(core, instrument, resolution)
}

function haltIfTooLong(core: Core, { symbol }: InstrumentState, resolution: Resolution): void {
  if (waitsInSilence(core, symbol, resolution) || core.now <= resolution.patientUntil) return
  if (
    hasUnreadableRows(core, symbol) ||
    restrictionOf(core.book, ACCOUNT, 'refused') !== undefined
  ) {
    // The instrument is halted with a reason already, and the resolution cannot end before the
    // release.
    mutable(resolution).patientUntil = core.now + PATIENCE_MS
    return
  }
  mutable(resolution).patientUntil = Number.POSITIVE_INFINITY
  const refused = refusalOf(core, symbol, resolution)
  if (refused !== undefined) {
    const todo =
      'mend the key, its rights, the address of this machine or the account; then release the instrument'
    return halt(core, symbol, 'refused', `${refused}: nobody knows what became of orders; ${todo}`)
  }
  const todo = 'it goes on by itself; release the instrument when it has ended'
  const what = hasOrder(core, symbol, 'unknown') ? 'orders stay unknown' : 'what rests is not known'
  halt(
    core,
    symbol,
    'contradiction',
    `${what} although the exchange answers: no end of ${resolution.stage} (${resolution.cause} orders); ${todo}`,
  )
}

/** Silence contradicts nothing, so time without answers does not count. */
function waitsInSilence(core: Core, symbol: string, resolution: Resolution): boolean {
  const state = mutable(resolution)
  const reads = ['fills', `position ${symbol}`]
  const needs = resolution.cancels && resolution.stage !== 'settling' ? [...reads, CANCELS] : reads
  if (isSilent(core, needs)) {
    state.silentSince ??= core.now
    return true
  }
  if (resolution.silentSince !== undefined) state.patientUntil += core.now - resolution.silentSince
  state.silentSince = undefined
  return false
}

function refusalOf(
  { readings }: Core,
  symbol: string,
  { stage, refusal }: Resolution,
): string | undefined {
  if (stage !== 'settling')
    return refusal === '' ? undefined : `the cancel-all is refused (${refusal})`
  const failed = [readings.failures.get('fills'), readings.failures.get(`position ${symbol}`)]
  const read = failed.find((failure) => failure?.isRefused === true)
  return read && `fills and position cannot be read (${read.reason})`
}

export function postponeResolutionDeadline({ resolution }: InstrumentState, sleptMs: number): void {
  if (resolution) mutable(resolution).patientUntil += sleptMs
}

/** Either clock may have been set, so what is known of them now decides. */
function isPastAcceptanceDeadline(core: Core, { acceptanceDeadlineAt }: Resolution): boolean {
  if (acceptanceDeadlineAt === 0) return true
  return clockUnsynchronised(core) === undefined && exchangeNow(core) >= acceptanceDeadlineAt
}

export function noteCancelled(instrument: InstrumentState, now: number): void {
  if (instrument.resolution?.stage !== 'cancelling') return
  const resolution = mutable(instrument.resolution)
  resolution.stage = 'settling'
  resolution.settlingSince = now
}

export interface CancelFailure {
  /** Present if the exchange would refuse it again; in its own words. */
  readonly refusal: string | undefined
  readonly isAtOnce: boolean
}

export function repeatCancel(
  core: Core,
  instrument: InstrumentState,
  { refusal, isAtOnce }: CancelFailure,
): void {
  if (instrument.resolution?.stage !== 'cancelling') return
  const resolution = mutable(instrument.resolution)
  resolution.stage = 'waiting'
  resolution.notBefore = core.now + (isAtOnce ? 0 : CANCEL_REPEAT_MS)
  resolution.refusals = refusal === undefined ? 0 : resolution.refusals + 1
  resolution.refusal = refusal ?? ''
}

/**
 * A refused cancel-all waits longer each time. During a kill or a stop it does so only where it can
 * do nothing, because the exchange does not know the instrument any more.
 */
function refusedPauseMs(core: Core, instrument: InstrumentState, { refusals }: Resolution): number {
  if (refusals === 0) return 0
  const { run, book } = core
  const isUrgent =
    run.phase === 'stopping' || run.flatBeforeStop !== undefined || killOf(book) !== undefined
  let mostMs = CANCEL_REPEAT_MS_MAX
  if (isUrgent) mostMs = isKnown(core, instrument) ? CANCEL_REPEAT_MS : URGENT_REPEAT_MS_MAX
  return Math.min(mostMs, CANCEL_REPEAT_MS * 2 ** (refusals - 1)) - CANCEL_REPEAT_MS
}

function isKnown(core: Core, instrument: InstrumentState): boolean {
  return refusalOfInstrument(core, instrument) === undefined
}

/**
 * A cancel-all for all is about to leave, or the exchange may have cancelled by itself, so the
 * instrument is resolved.
 * @returns whether its resolution has waited for this call
 */
export function closeBehindCancel(core: Core, instrument: InstrumentState): boolean {
  if (instrument.phase === 'idle') startResolution(core, instrument, 'cancelledAlong')
  // Its batch is out: the book holds the cancel-all, and the instrument is resolved after the
  // answer.
  if (!instrument.resolution) return false
  const resolution = mutable(instrument.resolution)
  if (!resolution.cancels && hasResting(core, instrument.symbol)) {
    resolution.cancels = true
    noteCancelResolution(instrument)
    // Now resting orders are uncertain too.
    if (resolution.stage === 'settling') Object.assign(resolution, UNPROVED)
  }
  return resolution.stage === 'cancelling'
}

const UNPROVED = {
  stage: 'cancelling',
  fillsReads: 0,
  fillsAskedAt: 0,
  positionRead: false,
} as const

/**
 * The exchange closed a position by itself and may have cancelled orders silently, so every
 * instrument where something may rest is resolved. This is recorded before the fills that show it:
 * after a crash in between, the next run would trust the resting orders.
 */
export function distrustResting(core: Core): void {
  const instruments = [...core.instruments.values()].filter(
    ({ symbol, phase }) =>
      phase !== 'idle' || hasResting(core, symbol) || hasOrder(core, symbol, 'unknown'),
  )
  if (instruments.length === 0) return
  const symbols = instruments.map(({ symbol }) => symbol)
  const requestAt = exchangeNow(core)
  record(core, { kind: 'cancel', at: core.now, symbols, requestAt, cause: 'liquidation' }, true)
  announce(core, 'warn', 'orders.unconfirmed', { symbols })
  for (const instrument of instruments) {
    // The start resolves idle instruments itself.
    if (!isStarting(core, instrument) || instrument.phase !== 'idle')
      closeBehindCancel(core, instrument)
  }
}

/**
 * No cancel-all can arrive any more, and enough was read late enough to know the fate of each order
 * (A2, A5).
 */
function canFinish(core: Core, instrument: InstrumentState, resolution: Resolution): boolean {
  if (core.now < instrument.lateCancelUntil || isUnderCancel(core, instrument.symbol)) return false
  const concerned = concernedOrders(core, instrument, resolution)
  // A cancel-all for all concerned no order here.
  if (resolution.cause === 'cancelledAlong' && concerned.length === 0) return true
  const reads = concerned.some(({ state }) => state === 'unknown') ? 2 : 1
  return resolution.positionRead && resolution.fillsReads >= reads
}

function concernedOrders(
  core: Core,
  { symbol }: InstrumentState,
  { cancels, cause }: Resolution,
): readonly Order[] {
  return [...openOrdersOf(core.book, symbol)].filter(
    ({ state }) =>
      state === 'unknown' ||
      (cancels && state === 'live') ||
      (cause === 'released' && state === 'quarantined'),
  )
}

/**
 * @returns Unix ms, our clock: readings asked for later show every fill of the concerned orders
 * (A2, A4)
 */
function readableFrom(core: Core, instrument: InstrumentState, resolution: Resolution): number {
  const { fillVisibilityMs, matchingLagMs } = core.settings.execution
  const takes = concernedOrders(core, instrument, resolution).some(({ terms }) => !canRest(terms))
  return resolution.settlingSince + fillVisibilityMs + (takes ? matchingLagMs : 0)
}

function askForReadings(core: Core, instrument: InstrumentState, resolution: Resolution): void {
  const isEarly = core.now < readableFrom(core, instrument, resolution)
  if (isEarly || core.now - resolution.askedAt < READS_APART_MS) return
  mutable(resolution).askedAt = core.now
  askForFills(core)
  if (!resolution.positionRead) askForPositionSoon(core, instrument.symbol)
}

/** @param requestedAt Unix ms, our clock; too early a reading proves nothing */
export function noteFillsForResolution(
  core: Core,
  instrument: InstrumentState,
  requestedAt: number,
): void {
  const { resolution } = instrument
  if (resolution?.stage !== 'settling' || requestedAt < readableFrom(core, instrument, resolution))
    return
  if (resolution.fillsReads > 0 && requestedAt - resolution.fillsAskedAt < READS_APART_MS) return
  const state = mutable(resolution)
  state.fillsReads += 1
  state.fillsAskedAt = requestedAt
}

export function notePositionForResolution(
  core: Core,
  instrument: InstrumentState,
  requestedAt: number,
): void {
  const { resolution } = instrument
  if (resolution?.stage !== 'settling') return
  if (requestedAt >= readableFrom(core, instrument, resolution))
    mutable(resolution).positionRead = true
}

function finishResolution(core: Core, instrument: InstrumentState, resolution: Resolution): void {
  const { symbol } = instrument
  const why = resolution.cancels ? 'cancelled' : 'not accepted in time'
  const settled = settleByEvidence(core, symbol, concernedOrders(core, instrument, resolution), why)
  const found = foundFills(core, settled)
  const orders = settled.map((entry) => withReplacement(core, resolution.cause, entry, found))
  if (orders.length > 0 || core.book.cancels.has(symbol)) {
    record(core, { kind: 'settle', at: core.now, symbol, isResolved: true, orders }, true)
  }
  for (const { clientOid, reason } of orders) announceEnd(core, clientOid, reason)
  if (resolution.cause === 'released') disownLeftOrphans(core, symbol)
  haltOnContradiction(core, symbol, orders)
  judgeUnownedFills(core)
  const ended = orders.flatMap(({ clientOid }) => core.book.orders.get(clientOid)?.terms ?? [])
  expectDisplaced(instrument, ended, resolution.settlingSince)
  leaveResolving(instrument)
  // If the beginning was logged as a warning, the end is logged too.
  announce(core, isRoutine(resolution.cause) ? 'debug' : 'info', 'instrument.resolved', {
    symbol,
    settled: orders.length,
  })
}

export function announceEnd(
  core: Core,
  clientOid: Order['terms']['clientOid'],
  reason: string,
): void {
  const order = core.book.orders.get(clientOid)
  announce(core, 'info', order?.state === 'queued' ? 'order.queuedAgain' : 'order.ended', {
    clientOid,
    symbol: order?.terms.symbol,
    state: order?.state,
    filled: order?.filledLots,
    reason,
  })
}
