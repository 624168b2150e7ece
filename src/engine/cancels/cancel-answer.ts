import { type Answer, isClockRefused, isRefusedForGood } from '../../domain/answer.ts'
import { type ClientOid, type OrderId, toClientOid, toOrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { BatchResult } from '../../protocol/values.ts'
import { judgeFills, noteListedNames, noteUnlisted } from '../resolution/older-state.ts'
import { noteCancelled, repeatCancel } from '../resolution/resolution.ts'
import { announce, type Core, instrumentOf, record, type OpenCancel } from '../state/core.ts'
import { noteListed } from '../state/readings.ts'
import { haltForKey } from '../state/trading-mode.ts'
import { noteUnansweredCancel } from '../state/instrument-state.ts'
import { closeCancel, noteCancelClock, noteCancelFound } from '../state/open-calls.ts'
import { namelessOrders } from '../book/book.ts'

/** Repeated where it failed, which does no harm. */
export function answerCancel(core: Core, cancelId: number, answer: Answer<BatchResult>): void {
  const cancel = closeCancel(core, cancelId)
  if (!cancel) return
  noteCancelClock(core, answer)
  if (answer.kind === 'unknown') noteLate(core, cancel)
  if (isPerhapsDone(answer)) noteUnlisted(core, cancel)
  const failed = readFailed(core, cancel, answer)
  if (answer.kind === 'accepted' || failed.size === 0)
    noteListed(
      core,
      cancel.symbols.filter((symbol) => !failed.has(symbol)),
      cancel.requestAt,
    )
  const refusal =
    answer.kind !== 'accepted' && isRefusedForGood(answer)
      ? `${answer.code} ${answer.message}`
      : undefined
  for (const symbol of cancel.resolves) {
    const instrument = instrumentOf(core, symbol)
    if (failed.has(symbol)) repeatCancel(core, instrument, { refusal, isAtOnce: hasNewTime(core) })
    else noteCancelled(instrument, core.now)
  }
}

/** A 429 may have been carried out all the same. */
function isPerhapsDone(answer: Answer<BatchResult>): boolean {
  if (answer.kind === 'accepted') return false
  return answer.kind === 'unknown' || (answer.class === 'retry' && !isClockRefused(answer))
}

/** The first refusal of the time in a row, which says the right one. */
function hasNewTime({ calls: { clockRefusals } }: Core): boolean {
  return clockRefusals.inRow === 1 && clockRefusals.aheadMs !== undefined
}

/** Until it cannot arrive any more, nothing is placed on its instruments. */
function noteLate(core: Core, cancel: OpenCancel): void {
  for (const symbol of cancel.symbols)
    noteUnansweredCancel(core, instrumentOf(core, symbol), cancel)
}

/** @returns the instruments on which orders may still rest */
function readFailed(
  core: Core,
  cancel: OpenCancel,
  answer: Answer<BatchResult>,
): ReadonlySet<string> {
  if (answer.kind === 'refused' && errorCode(answer.code).topic === 'orderGone') return new Set()
  if (answer.kind !== 'accepted') {
    const { code, message } = answer
    announce(core, 'warn', 'cancelAll.failed', { symbols: cancel.symbols, code, message })
    if (answer.kind === 'refused' && errorCode(code).topic === 'auth') haltForKey(core, code)
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

type ListedOrder = BatchResult['successList'][number]

function recordListed(core: Core, items: readonly ListedOrder[]): void {
  const listed = items.flatMap(({ clientOid, orderId }) => {
    const isKnown = clientOid && core.book.orders.has(clientOid as ClientOid)
    return isKnown
      ? [{ clientOid: toClientOid(clientOid), ...(orderId ? { orderId: toOrderId(orderId) } : {}) }]
      : []
  })
  judgeFills(
    core,
    listed.map((item) => ({ ...item, outcome: 'exists' })),
  )
  if (listed.length > 0) record(core, { kind: 'cancelAnswered', at: core.now, listed })
  noteListedNames(
    core,
    items.flatMap(({ clientOid }) => clientOid ?? []),
  )
}

/**
 * One that could not be cancelled and identified may be on any instrument with a nameless order.
 */
function instrumentsOf(core: Core, items: readonly ListedOrder[]): ReadonlySet<string> {
  const instruments = new Set<string>()
  for (const item of items) {
    const order = findOrder(core, item)
    if (order) instruments.add(order.terms.symbol)
    else
      for (const symbol of core.instruments.keys())
        if (namelessOrders(core.book, symbol).length > 0) instruments.add(symbol)
  }
  return instruments
}

function findOrder({ book }: Core, { clientOid, orderId }: ListedOrder): Order | undefined {
  const named = clientOid
    ? (clientOid as ClientOid)
    : book.byOrderId.get((orderId ?? '') as OrderId)
  return named === undefined ? undefined : book.orders.get(named)
}
