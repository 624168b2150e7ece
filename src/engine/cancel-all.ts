import { type Answer } from '../domain/answer.ts'
import { type ClientOid, toClientOid, toOrderId } from '../domain/ids.ts'
import { errorCode } from '../protocol/error-codes.ts'
import { type CancelAllRequest } from '../protocol/futures/cancel-all-orders.ts'
import { type BatchResult } from '../protocol/values.ts'
import { announce, type Core, exchangeNow, instrumentOf, laneOf, record } from './core.ts'
import { type FenceCause } from './lane.ts'

/** A cancel-all that failed for some orders, or at all, is repeated no sooner. */
const CANCEL_REPEAT_MS = 1000
/**
 * The request itself says how long it is good for (document: receiveWindow), because a copy that arrives
 * after the lane is free again would take away what was placed since.
 */
const RECEIVE_WINDOW_MS = 5000
/** By as much our idea of the exchange's clock may be wrong. */
const CLOCK_ERROR_MS = 1000

/** Unix ms, exchange clock: a cancel-all that left at `requestAt` does nothing any more after this. */
export function cancelHorizonAt(core: Core, requestAt: number): number {
  return requestAt + Math.min(core.settings.execution.acceptHorizonMs, RECEIVE_WINDOW_MS + CLOCK_ERROR_MS)
}

export function askForCancel(core: Core): void {
  if (core.asked.has('cancelAllOrders')) return
  core.asked.add('cancelAllOrders')
  core.effects.push({ kind: 'askGrant', endpoint: 'cancelAllOrders', priority: 'reduce' })
}

/** A cancel-all was granted: that of a kill goes first, then the lane that has waited longest. */
export function sendCancel(core: Core): void {
  if (core.kill?.phase === 'cutting') return sendCut(core)
  const onWire = new Set([...core.cancels.values()].flatMap(({ symbols }) => symbols))
  const waiting = [...core.lanes.values()]
    .filter((lane) => lane.fence?.stage === 'cancelling' && !onWire.has(lane.symbol))
    .sort((left, right) => (left.fence?.notBefore ?? 0) - (right.fence?.notBefore ?? 0))
  const lane = waiting[0]
  if (!lane) {
    core.effects.push({ kind: 'returnGrant', endpoint: 'cancelAllOrders' })
    return
  }
  sendCancelOf(core, [lane.symbol], lane.fence?.cause ?? 'command')
  if (waiting.length > 1) askForCancel(core)
}

/**
 * What a kill does at once: everything of the product type goes, also what no book of ours names. It is a
 * fence for nothing, as batches may be on the wire; the lanes are fenced when these are answered.
 */
function sendCut(core: Core): void {
  sendCancelOf(core, [...core.lanes.keys()], 'kill')
  if (core.kill) core.kill.phase = 'draining'
  if ([...core.lanes.values()].some((lane) => lane.fence?.stage === 'cancelling')) askForCancel(core)
}

/** One symbol, or all that are ours: then the product type alone is named. */
function sendCancelOf(core: Core, symbols: readonly string[], cause: FenceCause | 'kill'): void {
  const [symbol = ''] = symbols
  const { productType, marginCoin } = instrumentOf(core, symbol)
  const requestAt = exchangeNow(core)
  const body: CancelAllRequest = {
    ...(cause === 'kill' ? {} : { symbol }),
    productType,
    marginCoin,
    requestTime: String(Math.round(requestAt)),
    receiveWindow: String(RECEIVE_WINDOW_MS),
  }
  core.cancelId += 1
  core.cancels.set(core.cancelId, { symbols, requestAt, cause })
  record(core, { kind: 'cancel', at: core.now, symbols, requestAt, cause }, true)
  announce(core, 'info', 'cancelAll.sent', { symbols, cause })
  core.effects.push({ kind: 'sendCancelAll', cancelId: core.cancelId, body: JSON.stringify(body) })
}

/** What a cancel-all came back with. It may be repeated: cancelling twice does no harm. */
export function answerCancel(core: Core, cancelId: number, answer: Answer<BatchResult>): void {
  const cancel = core.cancels.get(cancelId)
  if (!cancel) return
  core.cancels.delete(cancelId)
  const isDone = recordListed(core, cancel.symbols, answer)
  // The cut of a kill fences nothing: what was on the wire beside it may have come after it.
  const { fence } = laneOf(core, cancel.symbols[0] ?? '')
  if (!fence || cancel.cause === 'kill') return
  if (isDone) {
    fence.stage = 'settling'
    fence.provedAt = core.now
    return
  }
  fence.stage = 'waiting'
  fence.notBefore = core.now + CANCEL_REPEAT_MS
  // It may still arrive: nothing is placed on the lane before it cannot any more.
  if (answer.kind === 'unknown') {
    fence.lateUntil = core.now + cancelHorizonAt(core, cancel.requestAt) - exchangeNow(core)
  }
}

/** Writes down what was listed as resting. True when nothing accepted earlier can be live any more. */
function recordListed(core: Core, symbols: readonly string[], answer: Answer<BatchResult>): boolean {
  if (answer.kind === 'refused' && errorCode(answer.code).topic === 'orderGone') return true
  if (answer.kind !== 'accepted') {
    announce(core, 'warn', 'cancelAll.failed', {
      symbols,
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
  if (listed.length > 0) record(core, { kind: 'fence', at: core.now, listed })
  if (answer.data.successList.length > 0) {
    if (core.stop) core.stop.hasFound = true
    if (core.kill) core.kill.hasFound = true
  }
  const failed = answer.data.failureList.filter((item) => errorCode(item.errorCode).topic !== 'orderGone')
  const still = failed.filter((item) => !/not ?exist/i.test(item.errorMsg ?? ''))
  announce(core, still.length > 0 ? 'warn' : 'info', 'cancelAll.answered', {
    symbols,
    cancelled: answer.data.successList.length,
    failed: still.length,
  })
  return still.length === 0
}
