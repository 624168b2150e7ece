import { type Answer } from '../domain/answer.ts'
import { type ClientOid, toClientOid, toOrderId } from '../domain/ids.ts'
import { canRest, openLots } from '../domain/order.ts'
import { type SettledOrder } from '../domain/record.ts'
import { errorCode } from '../protocol/error-codes.ts'
import { type CancelAllRequest } from '../protocol/futures/cancel-all-orders.ts'
import { type BatchResult } from '../protocol/values.ts'
import { openOrdersOf } from './book.ts'
import { announce, type Core, exchangeNow, instrumentOf, laneOf, record } from './core.ts'
import { settleByEvidence } from './evidence.ts'
import { fillsSince } from './fills-since.ts'
import { type Fence, type FenceCause, type Lane } from './lane.ts'

/** Two reads of the fills must agree before an order is called absent, this far apart. */
const READS_APART_MS = 500
/** A cancel-all that failed for some orders, or at all, is repeated no sooner. */
const CANCEL_REPEAT_MS = 1000
/** How long a cancelled order stays wanted while it waits to be placed again. */
const REPLACEMENT_TTL_MS = 60_000

/**
 * Stops placing on the instrument until it is proved what rests and what was filled. An unknown request may
 * still be accepted until its horizon has passed, so the cancel-all waits for that.
 */
export function startFence(core: Core, lane: Lane, cause: FenceCause): void {
  const unknown = [...openOrdersOf(core.book, lane.symbol)].filter((order) => order.state === 'unknown')
  const horizonAt = unknown.reduce(
    (latest, order) => Math.max(latest, order.lastSentAt + core.settings.execution.acceptHorizonMs),
    exchangeNow(core),
  )
  lane.state = 'fencing'
  lane.wantsBatchSince = undefined
  lane.unwantedSince = undefined
  lane.crossedSince.clear()
  lane.fence = {
    cause,
    stage: 'waiting',
    cancels: cause !== 'unknown' || unknown.some((order) => canRest(order.terms)),
    notBefore: core.now + horizonAt - exchangeNow(core),
    provedAt: 0,
    fillsReads: 0,
    fillsReadAt: 0,
    positionRead: false,
    askedAt: 0,
  }
  announce(core, cause === 'unwanted' || cause === 'command' ? 'debug' : 'warn', 'lane.fenced', {
    symbol: lane.symbol,
    cause,
    unknown: unknown.length,
    waitMs: lane.fence.notBefore - core.now,
  })
  advanceFence(core, lane)
}

/** Moves a fence on as far as time and readings allow. */
export function advanceFence(core: Core, lane: Lane): void {
  const { fence } = lane
  if (!fence) return
  if (fence.stage === 'waiting' && core.now >= fence.notBefore) {
    if (fence.cancels) {
      fence.stage = 'cancelling'
      askForCancel(core)
    } else {
      fence.stage = 'settling'
      fence.provedAt = core.now
    }
  }
  if (fence.stage !== 'settling') return
  if (isProved(core, lane, fence)) finishFence(core, lane, fence)
  else askForReadings(core, lane, fence)
}

function askForCancel(core: Core): void {
  if (core.asked.has('cancelAllOrders')) return
  core.asked.add('cancelAllOrders')
  core.effects.push({ kind: 'askGrant', endpoint: 'cancelAllOrders', priority: 'reduce' })
}

/** A cancel-all was granted: the lane that has waited longest sends it. */
export function sendCancel(core: Core): void {
  const onWire = new Set([...core.cancels.values()].map((cancel) => cancel.symbol))
  const waiting = [...core.lanes.values()]
    .filter((lane) => lane.fence?.stage === 'cancelling' && !onWire.has(lane.symbol))
    .sort((left, right) => (left.fence?.notBefore ?? 0) - (right.fence?.notBefore ?? 0))
  const lane = waiting[0]
  if (!lane) {
    core.effects.push({ kind: 'returnGrant', endpoint: 'cancelAllOrders' })
    return
  }
  const { productType, marginCoin } = instrumentOf(core, lane.symbol)
  const body: CancelAllRequest = { symbol: lane.symbol, productType, marginCoin }
  core.cancelId += 1
  core.cancels.set(core.cancelId, { symbol: lane.symbol, sentAt: core.now })
  record(core, { kind: 'cancel', at: core.now, symbol: lane.symbol, cause: lane.fence?.cause ?? 'command' })
  announce(core, 'info', 'cancelAll.sent', { symbol: lane.symbol, cause: lane.fence?.cause })
  core.effects.push({
    kind: 'sendCancelAll',
    cancelId: core.cancelId,
    symbol: lane.symbol,
    body: JSON.stringify(body),
  })
  if (waiting.length > 1) askForCancel(core)
}

/** What the cancel-all of a fence came back with. It may be repeated: cancelling twice does no harm. */
export function answerCancel(core: Core, cancelId: number, answer: Answer<BatchResult>): void {
  const cancel = core.cancels.get(cancelId)
  if (!cancel) return
  core.cancels.delete(cancelId)
  const lane = laneOf(core, cancel.symbol)
  const { fence } = lane
  if (!fence) return
  const complete = recordListed(core, lane, answer)
  if (complete) {
    fence.stage = 'settling'
    fence.provedAt = core.now
  } else {
    fence.stage = 'waiting'
    fence.notBefore = core.now + CANCEL_REPEAT_MS
  }
  advanceFence(core, lane)
}

/** Writes down what was listed as resting. True when nothing accepted earlier can be live any more. */
function recordListed(core: Core, lane: Lane, answer: Answer<BatchResult>): boolean {
  if (answer.kind === 'refused' && errorCode(answer.code).topic === 'orderGone') return true
  if (answer.kind !== 'accepted') {
    announce(core, 'warn', 'cancelAll.failed', {
      symbol: lane.symbol,
      code: answer.code,
      message: answer.message,
    })
    return false
  }
  const listed = answer.data.successList.flatMap(({ clientOid, orderId }) => {
    const known = clientOid && core.book.orders.has(clientOid as ClientOid)
    return known
      ? [{ clientOid: toClientOid(clientOid), ...(orderId ? { orderId: toOrderId(orderId) } : {}) }]
      : []
  })
  record(core, { kind: 'fence', at: core.now, symbol: lane.symbol, listed })
  const failed = answer.data.failureList.filter((item) => errorCode(item.errorCode).topic !== 'orderGone')
  const still = failed.filter((item) => !/not ?exist/i.test(item.errorMsg ?? ''))
  announce(core, still.length > 0 ? 'warn' : 'info', 'cancelAll.answered', {
    symbol: lane.symbol,
    cancelled: answer.data.successList.length,
    failed: still.length,
  })
  return still.length === 0
}

/** Enough was read, late enough, to say what became of everything (A2, A5). */
function isProved(core: Core, lane: Lane, fence: Fence): boolean {
  return fence.positionRead && fence.fillsReads >= readsNeeded(core, lane)
}

function readsNeeded(core: Core, lane: Lane): number {
  for (const order of openOrdersOf(core.book, lane.symbol)) if (order.state === 'unknown') return 2
  return 1
}

function askForReadings(core: Core, lane: Lane, fence: Fence): void {
  const dueAt = fence.provedAt + core.settings.execution.fillVisibilityMs
  if (core.now < dueAt || core.now - fence.askedAt < READS_APART_MS) return
  fence.askedAt = core.now
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
  if (!fence.positionRead) core.effects.push({ kind: 'readPosition', symbol: lane.symbol })
}

/** A complete read of the fills was asked for at `requestedAt` (our clock): it may be the proof. */
export function noteFillsForFence(core: Core, lane: Lane, requestedAt: number): void {
  const { fence } = lane
  if (fence?.stage !== 'settling') return
  if (requestedAt < fence.provedAt + core.settings.execution.fillVisibilityMs) return
  if (fence.fillsReads > 0 && requestedAt - fence.fillsReadAt < READS_APART_MS) return
  fence.fillsReads += 1
  fence.fillsReadAt = requestedAt
}

export function notePositionForFence(core: Core, lane: Lane, requestedAt: number): void {
  const { fence } = lane
  if (fence?.stage !== 'settling') return
  if (requestedAt >= fence.provedAt + core.settings.execution.fillVisibilityMs) fence.positionRead = true
}

/** Everything is proved: each order gets its end, survivors are wanted again, and the lane is free. */
function finishFence(core: Core, lane: Lane, fence: Fence): void {
  const concerned = [...openOrdersOf(core.book, lane.symbol)].filter(
    (order) => order.state === 'unknown' || (fence.cancels && order.state === 'live'),
  )
  const why = fence.cancels ? 'cancelled' : 'not accepted in time'
  const settled = settleByEvidence(core, lane.symbol, concerned, why)
  const orders = settled.map((entry) => withReplacement(core, fence, entry))
  if (orders.length > 0) record(core, { kind: 'settle', at: core.now, symbol: lane.symbol, orders }, true)
  for (const { clientOid, reason } of orders) {
    const order = core.book.orders.get(clientOid)
    announce(core, 'info', 'order.ended', {
      clientOid,
      symbol: lane.symbol,
      state: order?.state,
      filled: order?.filledLots,
      reason,
    })
  }
  lane.state = 'idle'
  lane.fence = undefined
  announce(core, 'debug', 'lane.free', { symbol: lane.symbol, settled: orders.length })
}

/**
 * ORD8: an order that was cancelled for another's sake, or never arrived and is still wanted, is placed
 * again as the next generation of its key. Ladders and targets stand by themselves; what a strategy placed
 * by name has to be brought back.
 */
function withReplacement(core: Core, fence: Fence, settled: SettledOrder): SettledOrder {
  const order = core.book.orders.get(settled.clientOid)
  if (!order || order.terms.purpose !== 'place' || fence.cause === 'command' || core.mode === 'stopping')
    return settled
  if (core.book.withdrawn.has(settled.clientOid)) return settled
  const deadlineAt = settled.state === 'absent' ? order.terms.deadlineAt : core.now + REPLACEMENT_TTL_MS
  const wanted = settled.state === 'absent' ? core.now <= deadlineAt : canRest(order.terms)
  const lots = openLots(order)
  if (!wanted || lots < instrumentOf(core, order.terms.symbol).lotsMin) return settled
  const { clientOid: _, generation: __, ...terms } = order.terms
  const { ticks, takeProfitTicks, stopLossTicks } = terms
  return { ...settled, replacement: { ...terms, lots, ticks, takeProfitTicks, stopLossTicks, deadlineAt } }
}
