import { type ApprovedItem, packBatch } from '../../execution/pack-batch.ts'
import { planCancel } from '../../execution/cancel-plan.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { approveLane, type ApprovedLane } from '../planning/approve-instrument.ts'
import { buildStakes, noteUnwanted, timingOf, unwantedForMs } from '../cancels/cancel-stakes.ts'
import { tellKept } from '../cancels/cancel-told.ts'
import { askForCancel, hasUnknown } from '../state/open-cancels.ts'
import { announce, type Core, record } from '../state/core.ts'
import { copyUnknown } from '../resolution/copy-unknown.ts'
import { crossedOrders } from '../state/crossed-orders.ts'
import { tellDenials } from '../state/denials.ts'
import { namelessOrders } from '../resolution/evidence.ts'
import { startFence } from '../resolution/resolution.ts'
import { type Lane } from '../state/instrument-state.ts'
import { nameOrder } from './name-order.ts'
import { isReleased } from '../resolution/quarantine.ts'
import { type LanePlan, planLane } from '../planning/plan-instrument.ts'
import { recordSend } from './record-send.ts'
import { watchSurvivors } from '../resolution/displaced-orders.ts'

/** Looks at an idle lane and starts whatever comes next: a fence, or asking for a batch. */
export function tendLane(core: Core, lane: Lane): void {
  lane.wantsBatchSince = lane.state === 'idle' ? lane.wantsBatchSince : undefined
  watchSurvivors(core, lane)
  if (lane.state !== 'idle' || core.mode === 'stopped') return
  copyUnknown(core, lane)
  if (hasUnknown(core, lane.symbol)) return startFence(core, lane, 'unknown')
  if (isReleased(core, lane.symbol)) return startFence(core, lane, 'released')
  if (core.mode === 'starting') return
  // A cancel-all came by while its batch was out: which of the orders it met is not known.
  if (core.book.cancels.has(lane.symbol)) return startFence(core, lane, 'swept')
  const plan = planLane(core, lane)
  if (plan.stale.length > 0) {
    dropStale(core, lane, plan.stale)
    return tendLane(core, lane)
  }
  // What a stop leaves is asked after in the next life.
  if (core.mode === 'running' && isCrossedTooLong(core, lane)) return startFence(core, lane, 'gone')
  noteUnwanted(core, lane, plan.unwanted)
  if (mustCancel(core, lane, plan.unwanted)) {
    return startFence(core, lane, core.mode === 'running' ? 'unwanted' : 'command')
  }
  const approved = approveLane(core, lane, plan.candidates)
  tellDenials(core, lane, approved.denials)
  weighCancel(core, lane, plan, approved)
  noteWish(core, lane, approved)
}

function noteWish(core: Core, lane: Lane, { items, reduces }: ApprovedLane): void {
  if (items.length === 0 || packLane(core, lane, items).length === 0) {
    lane.wantsBatchSince = undefined
    return
  }
  // What a cancel-all took for others' sake has waited since then.
  lane.wantsBatchSince ??= lane.survivors[0]?.since ?? core.now
  lane.wantsReduce = reduces
  if (core.asked.has('batchPlaceOrder')) return
  core.asked.add('batchPlaceOrder')
  core.effects.push({ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: reduces ? 'reduce' : 'add' })
}

/**
 * A batch call was granted: the most urgent lane is planned anew, on what is known now (late binding), and
 * its batch leaves. Gives the grant back when nothing is wanted any more.
 */
export function placeBatch(core: Core): void {
  for (const lane of [...core.lanes.values()].filter(isWaiting).sort(byUrgency)) {
    if (sendLane(core, lane)) return askForNext(core)
  }
  core.effects.push({ kind: 'returnGrant', endpoint: 'batchPlaceOrder' })
}

function isWaiting(lane: Lane): boolean {
  return lane.wantsBatchSince !== undefined && lane.state === 'idle'
}

function byUrgency(left: Lane, right: Lane): number {
  const reduces = Number(right.wantsReduce) - Number(left.wantsReduce)
  return reduces || (left.wantsBatchSince ?? 0) - (right.wantsBatchSince ?? 0)
}

function sendLane(core: Core, lane: Lane): boolean {
  const { items } = approveLane(core, lane, planLane(core, lane).candidates)
  const orders = packLane(core, lane, items).flatMap((item) => nameOrder(core, item) ?? [])
  const batch = orders.length === 0 ? undefined : recordSend(core, lane, orders)
  lane.wantsBatchSince = undefined
  if (batch === undefined) return false
  lane.state = 'placing'
  core.batches.set(batch.batchId, { symbol: lane.symbol, clientOids: batch.clientOids })
  announce(core, 'debug', 'batch.sent', {
    batchId: batch.batchId,
    symbol: lane.symbol,
    orders: batch.clientOids.length,
  })
  for (const { terms } of orders) announce(core, 'info', 'order.sent', describeTerms(batch.batchId, terms))
  core.effects.push({ kind: 'sendBatch', batch })
  return true
}

function packLane(core: Core, lane: Lane, items: readonly ApprovedItem[]): readonly ApprovedItem[] {
  const placed = lane.wantsCancel ? items.filter(({ intent }) => !canRest(intent)) : items
  return packBatch(placed, {
    max: core.settings.execution.batchOrdersMax,
    mode: core.settings.positionMode,
    nameless: namelessOrders(core, lane.symbol),
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
  const next = [...core.lanes.values()].filter(isWaiting)
  if (next.length === 0 || core.asked.has('batchPlaceOrder')) return
  core.asked.add('batchPlaceOrder')
  const priority = next.some((lane) => lane.wantsReduce) ? 'reduce' : 'add'
  core.effects.push({ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority })
}

/** A waiting order that was never sent ends here; one that was may live, and is resolved like any unknown. */
function dropStale(core: Core, lane: Lane, orders: readonly Order[]): void {
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
    announce(core, 'info', 'order.dropped', { clientOid: order.terms.clientOid, symbol: lane.symbol })
  }
}

/** What no cost is weighed against: a kill, a stop, a withdrawal, and an order that nobody has wanted for too long. */
function mustCancel(core: Core, lane: Lane, unwanted: readonly Order[]): boolean {
  if (unwanted.length === 0) return false
  if (core.mode === 'killed') return true
  if (core.mode !== 'running') return core.stop !== undefined && core.stop.policy !== 'leave'
  const { extraToleranceMsMax } = core.settings.execution
  return unwanted.some(
    (order) =>
      core.book.withdrawn.has(order.terms.clientOid) ||
      unwantedForMs(core, lane, order) >= extraToleranceMsMax,
  )
}

/**
 * Weighs a cancel-all of the lane against keeping what nobody wants. While one is waited for nothing is placed
 * that could rest: it would be taken away again.
 */
function weighCancel(core: Core, lane: Lane, plan: LanePlan, approved: ApprovedLane): void {
  lane.wantsCancel = false
  // Nothing is placed again any more: what a stop leaves, it leaves.
  const isKept = plan.unwanted.length === 0 || core.mode !== 'running'
  const stakes = isKept ? undefined : buildStakes(core, lane, plan, approved)
  if (!stakes || stakes.unwanted.length === 0) {
    lane.isKeptTold = false
    return
  }
  const choice = planCancel({ lanes: [stakes], timing: timingOf(core), mayCancelProduct: false })
  if (choice.kind !== 'cancelSymbol') return tellKept(core, lane, choice)
  lane.wantsCancel = true
  askForCancel(core)
}

/**
 * A resting order that the market has traded through must have been filled. When no fill of it turns up, the
 * exchange has dropped it without a word, and only a fence can say so.
 */
function isCrossedTooLong(core: Core, lane: Lane): boolean {
  const crossed = crossedOrders(core, lane).map((order) => order.terms.clientOid)
  for (const clientOid of lane.crossedSince.keys()) {
    if (!crossed.includes(clientOid)) lane.crossedSince.delete(clientOid)
  }
  for (const clientOid of crossed) {
    if (!lane.crossedSince.has(clientOid)) lane.crossedSince.set(clientOid, core.now)
  }
  const { crossedToleranceMs } = core.settings.execution
  const gone = crossed.filter(
    (clientOid) => core.now - (lane.crossedSince.get(clientOid) ?? core.now) >= crossedToleranceMs,
  )
  for (const clientOid of gone) announce(core, 'warn', 'order.gone', { symbol: lane.symbol, clientOid })
  return gone.length > 0
}
