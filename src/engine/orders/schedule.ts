import { type ApprovedItem, packBatch } from '../../execution/pack-batch.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { approveOrders, type ApprovedOrders } from '../planning/approve-instrument.ts'
import { isCancelDue, noteUnwanted } from '../cancels/cancel-queue.ts'
import { askForCancel, hasUnknown } from '../state/open-cancels.ts'
import { announce, type Core, record } from '../state/core.ts'
import { crossedOrders } from '../state/crossed-orders.ts'
import { logDenials } from '../state/denials.ts'
import { namelessOrders } from '../resolution/evidence.ts'
import { startResolution } from '../resolution/resolution.ts'
import { type InstrumentState } from '../state/instrument-state.ts'
import { nameOrder } from './name-order.ts'
import { isReleased } from '../resolution/quarantine.ts'
import { planInstrument } from '../planning/plan-instrument.ts'
import { recordSend } from './record-send.ts'
import { watchDisplaced } from '../resolution/displaced-orders.ts'

/** Looks at an idle instrument and starts whatever comes next: a resolution, or asking for a batch. */
export function scheduleInstrument(core: Core, instrument: InstrumentState): void {
  instrument.wantsBatchSince = instrument.phase === 'idle' ? instrument.wantsBatchSince : undefined
  watchDisplaced(core, instrument)
  if (instrument.phase !== 'idle' || core.mode === 'stopped') return
  if (hasUnknown(core, instrument.symbol)) return startResolution(core, instrument, 'unknown')
  if (isReleased(core, instrument.symbol)) return startResolution(core, instrument, 'released')
  if (core.mode === 'starting') return
  // A cancel-all came by while its batch was out: which of the orders it met is not known.
  if (core.book.cancels.has(instrument.symbol)) return startResolution(core, instrument, 'cancelledAlong')
  const plan = planInstrument(core, instrument)
  if (plan.stale.length > 0) {
    dropStale(core, instrument, plan.stale)
    return scheduleInstrument(core, instrument)
  }
  // What a stop leaves is asked after in the next life.
  if (core.mode === 'running' && isCrossedTooLong(core, instrument))
    return startResolution(core, instrument, 'missing')
  noteUnwanted(core, instrument, plan.unwanted)
  if (mustCancel(core, plan.unwanted)) {
    return startResolution(core, instrument, core.mode === 'running' ? 'unwanted' : 'command')
  }
  const approved = approveOrders(core, instrument, plan.candidates)
  logDenials(core, instrument, approved.denials)
  noteCancelWish(core, instrument)
  noteWish(core, instrument, approved)
}

function noteWish(core: Core, instrument: InstrumentState, { items, reduces }: ApprovedOrders): void {
  if (items.length === 0 || packInstrument(core, instrument, items).length === 0) {
    instrument.wantsBatchSince = undefined
    return
  }
  // What a cancel-all took for others' sake has waited since then.
  instrument.wantsBatchSince ??= instrument.displaced[0]?.since ?? core.now
  instrument.wantsReduce = reduces
  if (core.asked.has('batchPlaceOrder')) return
  core.asked.add('batchPlaceOrder')
  core.effects.push({ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: reduces ? 'reduce' : 'add' })
}

/**
 * A batch call was granted: the most urgent instrument is planned anew, on what is known now (late binding), and
 * its batch leaves. Gives the grant back when nothing is wanted any more.
 */
export function placeBatch(core: Core): void {
  for (const instrument of [...core.instruments.values()].filter(isWaiting).sort(byUrgency)) {
    if (sendBatchOf(core, instrument)) return askForNext(core)
  }
  core.effects.push({ kind: 'returnGrant', endpoint: 'batchPlaceOrder' })
}

function isWaiting(instrument: InstrumentState): boolean {
  return instrument.wantsBatchSince !== undefined && instrument.phase === 'idle'
}

function byUrgency(left: InstrumentState, right: InstrumentState): number {
  const reduces = Number(right.wantsReduce) - Number(left.wantsReduce)
  return reduces || (left.wantsBatchSince ?? 0) - (right.wantsBatchSince ?? 0)
}

function sendBatchOf(core: Core, instrument: InstrumentState): boolean {
  const { items } = approveOrders(core, instrument, planInstrument(core, instrument).candidates)
  const orders = packInstrument(core, instrument, items).flatMap((item) => nameOrder(core, item) ?? [])
  const batch = orders.length === 0 ? undefined : recordSend(core, instrument, orders)
  instrument.wantsBatchSince = undefined
  if (batch === undefined) return false
  instrument.phase = 'placing'
  core.batches.set(batch.batchId, { symbol: instrument.symbol, clientOids: batch.clientOids })
  announce(core, 'debug', 'batch.sent', {
    batchId: batch.batchId,
    symbol: instrument.symbol,
    orders: batch.clientOids.length,
  })
  for (const { terms } of orders) announce(core, 'info', 'order.sent', describeTerms(batch.batchId, terms))
  core.effects.push({ kind: 'sendBatch', batch })
  return true
}

function packInstrument(
  core: Core,
  instrument: InstrumentState,
  items: readonly ApprovedItem[],
): readonly ApprovedItem[] {
  const placed = instrument.wantsCancel ? items.filter(({ intent }) => !canRest(intent)) : items
  return packBatch(placed, {
    max: core.settings.execution.batchOrdersMax,
    mode: core.settings.positionMode,
    nameless: namelessOrders(core, instrument.symbol),
  })
}

function describeTerms(batchId: number, terms: Order['terms']): Record<string, unknown> {
  const { clientOid, strategyId, symbol, purpose, action, lots, ticks, force } = terms
  return {
    clientOid,
    strategy: strategyId,
    symbol,
    batchId,
    purpose,
    action,
    lots,
    ticks: ticks ?? 'market',
    force,
  }
}

function askForNext(core: Core): void {
  const next = [...core.instruments.values()].filter(isWaiting)
  if (next.length === 0 || core.asked.has('batchPlaceOrder')) return
  core.asked.add('batchPlaceOrder')
  const priority = next.some((instrument) => instrument.wantsReduce) ? 'reduce' : 'add'
  core.effects.push({ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority })
}

/** A waiting order that was never sent ends here; one that was may live, and is resolved like any unknown. */
function dropStale(core: Core, instrument: InstrumentState, orders: readonly Order[]): void {
  record(core, {
    kind: 'expire',
    at: core.now,
    orders: orders.map((order) => ({
      clientOid: order.terms.clientOid,
      state: order.attempts === 0 ? 'expired' : 'unknown',
    })),
    places: [],
    reason: 'no longer wanted',
  })
  for (const order of orders) {
    announce(core, 'info', 'order.dropped', { clientOid: order.terms.clientOid, symbol: instrument.symbol })
  }
}

/** What closes an instrument at once: a kill, a stop, a withdrawal. */
function mustCancel(core: Core, unwanted: readonly Order[]): boolean {
  if (unwanted.length === 0) return false
  if (core.mode === 'killed') return true
  if (core.mode !== 'running') return core.stop !== undefined && core.stop.policy !== 'leave'
  return unwanted.some((order) => core.book.withdrawn.has(order.terms.clientOid))
}

/**
 * Asks for a cancel-all when one is due. Until it is granted nothing is placed that could rest: it would be taken
 * away again.
 */
function noteCancelWish(core: Core, instrument: InstrumentState): void {
  // Nothing is placed again any more after a stop: what it leaves, it leaves.
  instrument.wantsCancel = core.mode === 'running' && isCancelDue(core, instrument)
  if (instrument.wantsCancel) askForCancel(core)
}

/**
 * A resting order that the market has traded through must have been filled. When no fill of it turns up, the
 * exchange has dropped it without a word, and only a resolution can say so.
 */
function isCrossedTooLong(core: Core, instrument: InstrumentState): boolean {
  const crossed = crossedOrders(core, instrument).map((order) => order.terms.clientOid)
  for (const clientOid of instrument.crossedSince.keys()) {
    if (!crossed.includes(clientOid)) instrument.crossedSince.delete(clientOid)
  }
  for (const clientOid of crossed) {
    if (!instrument.crossedSince.has(clientOid)) instrument.crossedSince.set(clientOid, core.now)
  }
  const { crossedToleranceMs } = core.settings.execution
  const gone = crossed.filter(
    (clientOid) => core.now - (instrument.crossedSince.get(clientOid) ?? core.now) >= crossedToleranceMs,
  )
  for (const clientOid of gone)
    announce(core, 'warn', 'order.missing', { symbol: instrument.symbol, clientOid })
  return gone.length > 0
}
