import { type Answer, isClockRefused, isRefusedForGood } from '../../domain/answer.ts'
import { type ClientOid, type OrderId, toClientOid, toOrderId } from '../../domain/ids.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { CancelAllRequest } from '../../protocol/futures/cancel-all-orders.ts'
import type { BatchResult } from '../../protocol/values.ts'
import { openOrdersOf, restrictionsOn, namelessOrders } from '../book/book.ts'
import { judgeFills, noteListedNames, noteUnlisted } from '../resolution/older-state.ts'
import {
  closeBehindCancel,
  startResolution,
  noteCancelled,
  repeatCancel,
} from '../resolution/resolution.ts'
import { totalsOf } from '../state/totals.ts'
import {
  announce,
  type Core,
  emit,
  type InstrumentState,
  type OpenCancel,
  record,
  type ResolutionCause,
  specOf,
  instrumentOf,
} from '../state/core.ts'
import { hasResting, RECEIVE_WINDOW_MS, noteUnansweredCancel } from '../state/instrument-state.ts'
import {
  askForCancel,
  isUnderCancel,
  noteResolves,
  openCancel,
  closeCancel,
  noteCancelClock,
  noteCancelFound,
} from '../state/open-calls.ts'
import { isKilling, haltForKey } from '../state/trading-mode.ts'
import { noteListed } from '../state/readings.ts'

/**
 * One call serves the instrument that has waited longest, or all at once. Where none waits the
 * grant goes back.
 */
export function sendCancel(core: Core): void {
  const waiting = instrumentsAwaitingCancel(core)
  const [first, ...others] = waiting
  if (first === undefined) return emit(core, { kind: 'returnGrant', endpoint: 'cancelAllOrders' })
  announce(core, 'debug', 'cancel.planned', { order: waiting.map(({ symbol }) => symbol) })
  // While another cancel-all is on the wire, only one that names its instrument may follow.
  const mayCancelProduct =
    isOursAlone(core) && core.calls.cancels.size === 0 && core.instruments.size > 1
  if (mayCancelProduct && servesMost(core, waiting)) return cancelProduct(core, 'planned')
  cancelSymbol(core, first)
  if (others.length > 0) askForCancel(core)
}

/**
 * One call for all is better when more instruments wait than would lose orders without need
 * (docs/mechanisms.md has the measurements). Orders of a halted instrument would be lost for good.
 */
function servesMost(core: Core, waiting: readonly InstrumentState[]): boolean {
  const others = [...core.instruments.values()].filter(
    (instrument) =>
      !waiting.includes(instrument) &&
      (instrument.phase === 'placing' ||
        (instrument.phase === 'idle' && hasResting(core, instrument.symbol))),
  )
  if (others.some(({ symbol }) => hasHalted(core, symbol))) return false
  return waiting.length > 1 && waiting.length > others.length
}

function hasHalted(core: Core, symbol: string): boolean {
  return [...totalsOf(core, symbol).orders.keys()].some((strategyId) =>
    restrictionsOn(core.book, symbol, strategyId).some(({ mode }) => mode === 'halted'),
  )
}

/** A kill may cancel every order of the product type; a stop that leaves orders never. */
function isOursAlone(core: Core): boolean {
  if (isKilling(core)) return true
  return core.settings.isExclusive && core.run.stop?.policy !== 'leave'
}

function cancelSymbol(core: Core, instrument: InstrumentState): void {
  const cancelId = openCancel(core, { symbols: [instrument.symbol], takesProduct: false })
  if (instrument.phase === 'idle') startResolution(core, instrument, 'unwanted')
  const isAwaited = instrument.resolution?.stage === 'cancelling'
  const cancel = noteResolves(core, cancelId, isAwaited ? [instrument.symbol] : [])
  recordAndSend(core, cancelId, cancel, instrument.resolution?.cause ?? 'command')
}

/**
 * Other programs' orders go too. Instruments where something may rest are resolved afterwards; on
 * the others nothing is placed until the call cannot arrive any more.
 */
export function cancelProduct(core: Core, cause: 'planned' | 'kill'): void {
  const symbols = [...core.instruments.keys()]
  const cancelId = openCancel(core, { symbols, takesProduct: true })
  const awaiting = [...core.instruments.values()].filter((instrument) =>
    closeBehindCancel(core, instrument),
  )
  const resolves = awaiting.map(({ symbol }) => symbol)
  recordAndSend(core, cancelId, noteResolves(core, cancelId, resolves), cause)
}

function recordAndSend(
  core: Core,
  cancelId: number,
  { symbols, takesProduct, requestAt, clockAheadMs }: OpenCancel,
  cause: ResolutionCause | 'planned' | 'kill',
): void {
  record(core, { kind: 'cancel', at: core.now, symbols, requestAt, cause }, true)
  announce(core, 'info', 'cancelAll.sent', { symbols, takesProduct, cause })
  const [symbol = ''] = symbols
  const { productType, marginCoin } = specOf(core, symbol)
  const body: CancelAllRequest = {
    ...(takesProduct ? {} : { symbol }),
    productType,
    marginCoin,
    requestTime: String(Math.round(requestAt)),
    receiveWindow: String(RECEIVE_WINDOW_MS),
  }
  const clock = clockAheadMs === undefined ? {} : { clockAheadMs }
  emit(core, { kind: 'sendCancelAll', cancelId, body: JSON.stringify(body), ...clock })
}

/**
 * A cancel-all also takes the wanted orders, which are missing until fills are readable. So it is
 * due once the unwanted have rested, added up, as long as the wanted (at least one) would be
 * missing, or one has rested for `unwantedMsMax`.
 */
export function isCancelDue(core: Core, { symbol, unwantedSince }: InstrumentState): boolean {
  const { unwantedMsMax, fillVisibilityMs } = core.settings.execution
  const [oldest] = unwantedSince.values()
  if (oldest === undefined) return false
  let wanted = 0
  for (const { state, terms } of openOrdersOf(core.book, symbol)) {
    if (state === 'live' && canRest(terms) && !unwantedSince.has(terms.clientOid)) wanted += 1
  }
  let restedMs = 0
  for (const since of unwantedSince.values()) restedMs += core.now - since
  return core.now - oldest >= unwantedMsMax || restedMs >= Math.max(1, wanted) * fillVisibilityMs
}

/**
 * Instruments that a stop or kill clears come first, then those that have waited longest, so none
 * waits for more calls than there are instruments.
 */
function instrumentsAwaitingCancel(core: Core): readonly InstrumentState[] {
  return [...core.instruments.values()]
    .filter((instrument) => isWaiting(instrument) && !isUnderCancel(core, instrument.symbol))
    .sort(
      (left, right) =>
        Number(isCommanded(right)) - Number(isCommanded(left)) ||
        waitingSince(core, left) - waitingSince(core, right),
    )
}

function isWaiting(instrument: InstrumentState): boolean {
  return (
    instrument.resolution?.stage === 'cancelling' ||
    (instrument.wantsCancel && instrument.phase === 'idle')
  )
}

function isCommanded({ resolution }: InstrumentState): boolean {
  return resolution?.cause === 'command'
}

function waitingSince(core: Core, instrument: InstrumentState): number {
  const [oldest = core.now] = instrument.unwantedSince.values()
  return instrument.resolution?.notBefore ?? oldest
}

/** A failed cancel-all is repeated, which does no harm. */
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

/** The exchange may carry out a cancel-all that it answered with a 429. */
function isPerhapsDone(answer: Answer<BatchResult>): boolean {
  if (answer.kind === 'accepted') return false
  return answer.kind === 'unknown' || (answer.class === 'retry' && !isClockRefused(answer))
}

function hasNewTime({ calls: { clockRefusals } }: Core): boolean {
  return clockRefusals.inRow === 1 && clockRefusals.aheadMs !== undefined
}

function noteLate(core: Core, cancel: OpenCancel): void {
  for (const symbol of cancel.symbols)
    noteUnansweredCancel(core, instrumentOf(core, symbol), cancel)
}

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
 * An order that could not be cancelled, and that the answer does not identify, may be on any
 * instrument with a nameless order.
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
