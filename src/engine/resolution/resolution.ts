import { canRest, type Order } from '../../domain/order.ts'
import { openOrdersOf } from '../book/book.ts'
import { askForCancel, hasResting, isUnderCancel } from '../state/open-cancels.ts'
import { clockDoubt } from '../state/clock-state.ts'
import { doubtCopies } from './copy-unknown.ts'
import { announce, type Core, exchangeNow, record } from '../state/core.ts'
import { settleByEvidence } from './evidence.ts'
import { fillsSince } from '../state/fills-since.ts'
import { halt } from '../state/halt.ts'
import { disownLeftOrphans, haltOnContradiction } from './quarantine.ts'
import { type Fence, type FenceCause, type Lane } from '../state/instrument-state.ts'
import { withReplacement } from './replacement.ts'
import { expectSurvivors } from './displaced-orders.ts'

/** Two reads of the fills must agree before an order is called absent, this far apart. */
const READS_APART_MS = 500
/** After this long beyond its own waits a person must look: the instrument is halted, the fence goes on (ORD4). */
const PATIENCE_MS = 60_000

/**
 * Stops placing on the instrument until it is proved what rests and what was filled. An unknown request may
 * still be accepted until its horizon has passed, so the cancel-all waits for that.
 */
export function startFence(core: Core, lane: Lane, cause: FenceCause): void {
  doubtCopies(core, lane.symbol)
  const unknown = [...openOrdersOf(core.book, lane.symbol)].filter((order) => order.state === 'unknown')
  const horizonAt = unknown
    .filter(({ unansweredAt }) => unansweredAt > 0)
    .reduce(
      (latest, order) => Math.max(latest, order.unansweredAt + core.settings.execution.acceptHorizonMs),
      doubtedUntil(core),
    )
  const notBefore = core.now + Math.max(0, horizonAt - exchangeNow(core))
  lane.state = 'fencing'
  lane.wantsBatchSince = undefined
  lane.wantsCancel = false
  lane.crossedSince.clear()
  lane.copies.clear()
  lane.fence = {
    cause,
    stage: 'waiting',
    cancels: needsCancel(core, lane, cause),
    notBefore,
    horizonAt,
    patientUntil: notBefore + PATIENCE_MS,
    provedAt: 0,
    fillsReads: 0,
    fillsReadAt: 0,
    positionRead: false,
    askedAt: 0,
  }
  if (lane.fence.cancels) core.stop?.cancelled.add(lane.symbol)
  announce(core, ROUTINE_CAUSES.has(cause) ? 'debug' : 'warn', 'lane.fenced', {
    symbol: lane.symbol,
    cause,
    unknown: unknown.length,
    waitMs: notBefore - core.now,
  })
  advanceFence(core, lane)
}

/** Unix ms, exchange clock: orders of a lost part of the journal may still be accepted until then. */
function doubtedUntil({ book, settings, offsetMs = 0 }: Core): number {
  return book.doubtedAt === 0 ? 0 : book.doubtedAt + offsetMs + settings.execution.acceptHorizonMs
}

const ROUTINE_CAUSES: ReadonlySet<FenceCause> = new Set(['unwanted', 'command', 'swept'])

/** Where orders are unknown, or another's cancel-all came by, there may be nothing that could rest. */
function needsCancel(core: Core, { symbol }: Lane, cause: FenceCause): boolean {
  if (cause !== 'unknown' && cause !== 'swept') return true
  if (cause === 'swept' ? hasResting(core, symbol) : core.book.cancels.has(symbol)) return true
  // What rests is taken away at a start too, with the same fence.
  if (core.mode === 'starting' && fencesAtStart(core, symbol)) return true
  return [...openOrdersOf(core.book, symbol)].some(
    ({ state, terms }) => state === 'unknown' && canRest(terms),
  )
}

/** Whether the operator wants what rests taken away at a start, and something does. */
export function fencesAtStart(core: Core, symbol: string): boolean {
  return core.settings.onRestart === 'fence' && hasResting(core, symbol)
}

/** Moves a fence on as far as time and readings allow. */
export function advanceFence(core: Core, lane: Lane): void {
  const { fence } = lane
  if (!fence) return
  if (core.now > fence.patientUntil) {
    fence.patientUntil = Number.POSITIVE_INFINITY
    const todo = 'it goes on by itself when the exchange answers again; then release the instrument'
    halt(core, lane.symbol, `orders stay unknown: no end of ${fence.stage} (${fence.cause} orders); ${todo}`)
  }
  if (fence.stage === 'waiting' && core.now >= fence.notBefore && isPastHorizon(core, fence)) {
    fence.stage = fence.cancels ? 'cancelling' : 'settling'
    fence.provedAt = core.now
  }
  if (fence.stage === 'cancelling' && !isUnderCancel(core, lane.symbol)) askForCancel(core)
  if (fence.stage !== 'settling') return
  if (isProved(core, lane, fence)) finishFence(core, lane, fence)
  else askForReadings(core, lane, fence)
}

/** Judged by the clock as it is known now, not as it was when the fence began: either may have been set since. */
function isPastHorizon(core: Core, { horizonAt }: Fence): boolean {
  if (horizonAt === 0) return true
  return clockDoubt(core) === undefined && exchangeNow(core) >= horizonAt
}

/** No cancel-all can come any more, and enough was read, late enough, to say what became of everything (A2, A5). */
function isProved(core: Core, lane: Lane, fence: Fence): boolean {
  if (core.now < lane.lateUntil || isUnderCancel(core, lane.symbol)) return false
  const concerned = concernedOrders(core, lane, fence)
  // A cancel-all for others' sake that found nothing here to take proves itself.
  if (fence.cause === 'swept' && concerned.length === 0) return true
  const reads = concerned.some(({ state }) => state === 'unknown') ? 2 : 1
  return fence.positionRead && fence.fillsReads >= reads
}

function concernedOrders(core: Core, lane: Lane, { cancels, cause }: Fence): readonly Order[] {
  return [...openOrdersOf(core.book, lane.symbol)].filter(
    ({ state }) =>
      state === 'unknown' ||
      (cancels && state === 'live') ||
      (cause === 'released' && state === 'quarantined'),
  )
}

/** Unix ms, our clock: what is asked for from here on shows every fill of the orders in question (A2, A4). */
function readableFrom(core: Core, lane: Lane, fence: Fence): number {
  const { fillVisibilityMs, matchingLagMs } = core.settings.execution
  const takes = concernedOrders(core, lane, fence).some(({ terms }) => !canRest(terms))
  return fence.provedAt + fillVisibilityMs + (takes ? matchingLagMs : 0)
}

function askForReadings(core: Core, lane: Lane, fence: Fence): void {
  if (core.now < readableFrom(core, lane, fence) || core.now - fence.askedAt < READS_APART_MS) return
  fence.askedAt = core.now
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
  if (!fence.positionRead) core.effects.push({ kind: 'readPosition', symbol: lane.symbol })
}

/** A complete read of the fills was asked for at `requestedAt` (our clock): it may be the proof. */
export function noteFillsForFence(core: Core, lane: Lane, requestedAt: number): void {
  const { fence } = lane
  if (fence?.stage !== 'settling' || requestedAt < readableFrom(core, lane, fence)) return
  if (fence.fillsReads > 0 && requestedAt - fence.fillsReadAt < READS_APART_MS) return
  fence.fillsReads += 1
  fence.fillsReadAt = requestedAt
}

export function notePositionForFence(core: Core, lane: Lane, requestedAt: number): void {
  const { fence } = lane
  if (fence?.stage !== 'settling') return
  if (requestedAt >= readableFrom(core, lane, fence)) fence.positionRead = true
}

/** Everything is proved: each order gets its end, survivors are wanted again, and the lane is free. */
function finishFence(core: Core, lane: Lane, fence: Fence): void {
  const { symbol } = lane
  const why = fence.cancels ? 'cancelled' : 'not accepted in time'
  const settled = settleByEvidence(core, symbol, concernedOrders(core, lane, fence), why)
  const orders = settled.map((entry) => withReplacement(core, fence.cause, entry))
  if (orders.length > 0 || core.book.cancels.has(symbol)) {
    record(core, { kind: 'settle', at: core.now, symbol, isFenced: true, orders }, true)
  }
  for (const { clientOid, reason } of orders) announceEnd(core, clientOid, reason)
  if (fence.cause === 'released') disownLeftOrphans(core, symbol)
  haltOnContradiction(core, symbol, orders)
  const ended = orders.flatMap(({ clientOid }) => core.book.orders.get(clientOid)?.terms ?? [])
  expectSurvivors(lane, ended, fence.provedAt)
  lane.state = 'idle'
  lane.fence = undefined
  announce(core, 'debug', 'lane.free', { symbol, settled: orders.length })
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
