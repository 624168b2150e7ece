import { type Answer } from '../../domain/answer.ts'
import { type ClientOid, type OrderId, toClientOid, toOrderId } from '../../domain/ids.ts'
import { type Order } from '../../domain/order.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import { type BatchResult } from '../../protocol/values.ts'
import { namelessOrders } from '../resolution/evidence.ts'
import { noteCancelled, repeatCancel } from '../resolution/resolution.ts'
import { announce, type Core, instrumentOf, record, type OpenCancel } from '../state/core.ts'
import { noteUnansweredCancel } from '../state/instrument-state.ts'
import { closeCancel, noteCancelFound } from '../state/open-calls.ts'

/** A cancel-all that failed for some orders, or at all, is repeated no sooner. */
const CANCEL_REPEAT_MS = 1000

/** What a cancel-all came back with, instrument by instrument. It may be repeated: cancelling twice does no harm. */
export function answerCancel(core: Core, cancelId: number, answer: Answer<BatchResult>): void {
  const cancel = closeCancel(core, cancelId)
  if (!cancel) return
  if (answer.kind === 'unknown') noteLate(core, cancel)
  const failed = readFailed(core, cancel, answer)
  for (const symbol of cancel.resolves) {
    const instrument = instrumentOf(core, symbol)
    if (failed.has(symbol)) repeatCancel(instrument, core.now + CANCEL_REPEAT_MS)
    else noteCancelled(instrument, core.now)
  }
}

/** It may still arrive: until it cannot, nothing is placed on the instruments that it names. */
function noteLate(core: Core, { symbols, requestAt }: OpenCancel): void {
  for (const symbol of symbols) noteUnansweredCancel(core, instrumentOf(core, symbol), requestAt)
}

/** Writes down what was listed as resting. Returns the instruments on which something accepted earlier may be live yet. */
function readFailed(core: Core, cancel: OpenCancel, answer: Answer<BatchResult>): ReadonlySet<string> {
  if (answer.kind === 'refused' && errorCode(answer.code).topic === 'orderGone') return new Set()
  if (answer.kind !== 'accepted') {
    const { code, message } = answer
    announce(core, 'warn', 'cancelAll.failed', { symbols: cancel.symbols, code, message })
    return new Set(cancel.resolves)
  }
  const { successList, failureList } = answer.data
  recordListed(core, successList)
  if (successList.length > 0) noteCancelFound(core)
  const still = failureList.filter(
    ({ errorCode: code, errorMsg }) =>
      errorCode(code).topic !== 'orderGone' && !/not ?exist/i.test(errorMsg ?? ''),
  )
  announce(core, still.length > 0 ? 'warn' : 'info', 'cancelAll.answered', {
    symbols: cancel.symbols,
    cancelled: successList.length,
    failed: still.length,
  })
  if (still.length === 0) return new Set()
  return cancel.takesProduct ? instrumentsOf(core, still) : new Set(cancel.symbols)
}

type Listed = BatchResult['successList'][number]

function recordListed(core: Core, items: readonly Listed[]): void {
  const listed = items.flatMap(({ clientOid, orderId }) => {
    const isKnown = clientOid && core.book.orders.has(clientOid as ClientOid)
    return isKnown
      ? [{ clientOid: toClientOid(clientOid), ...(orderId ? { orderId: toOrderId(orderId) } : {}) }]
      : []
  })
  if (listed.length > 0) record(core, { kind: 'cancelAnswered', at: core.now, listed })
}

/** The instruments of orders that could not be cancelled. An order without a known name may be on any of them. */
function instrumentsOf(core: Core, items: readonly Listed[]): ReadonlySet<string> {
  const instruments = new Set<string>()
  for (const item of items) {
    const order = findOrder(core, item)
    if (order) instruments.add(order.terms.symbol)
    else
      for (const symbol of core.instruments.keys())
        if (namelessOrders(core, symbol).length > 0) instruments.add(symbol)
  }
  return instruments
}

function findOrder({ book }: Core, { clientOid, orderId }: Listed): Order | undefined {
  const named = clientOid ? (clientOid as ClientOid) : book.byOrderId.get((orderId ?? '') as OrderId)
  return named === undefined ? undefined : book.orders.get(named)
}
