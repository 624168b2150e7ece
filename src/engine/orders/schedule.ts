import type { Answer } from '../../domain/answer.ts'
import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { canRest, type Order, type OrderTerms } from '../../domain/order.ts'
import type { Recorded } from '../../domain/proofs.ts'
import type { AnswerFacts, ItemOutcome } from '../../domain/record.ts'
import {
  type ApprovedItem,
  buildBatchRequest,
  deriveClientOid,
  packBatch,
  readBatchOutcome,
} from '../../execution/batch.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { BatchResult } from '../../protocol/values.ts'
import { isHalted, pairKey, namelessOrders } from '../book/book.ts'
import { isCancelDue } from './cancel-all.ts'
import type { OutgoingBatch } from '../effect.ts'
import { noteModeAnswered, noteModeSent } from '../resolution/check-setup.ts'
import { judgeFills, judgeNames } from '../resolution/older-state.ts'
import { startResolution } from '../resolution/resolution.ts'
import { watchDisplaced } from '../resolution/resolved-orders.ts'
import { noteSettled } from '../state/changes.ts'
import { totalsOf } from '../state/totals.ts'
import {
  announce,
  type Core,
  emit,
  instrumentOf,
  type InstrumentState,
  record,
  recordBefore,
  specOf,
} from '../state/core.ts'
import { holdQuote } from '../state/decision-state.ts'
import { notePlanDenials } from '../state/denials.ts'
import {
  enterPlacing,
  isStarting,
  leavePlacing,
  noteCancelDue,
  noteCrossed,
  noteUnwanted,
  wantBatch,
  wantNoBatch,
} from '../state/instrument-state.ts'
import { judgeRejection } from '../state/limit-pace.ts'
import {
  crossedOrders,
  exchangeNow,
  freshUntil,
  isBeyondOrder,
  noteBatchClockAccepted,
  noteBatchClockRefused,
  seenMarketOf,
} from '../state/market-state.ts'
import { askForCancel, askForGrant, closeBatch, notePace, openBatch } from '../state/open-calls.ts'
import { noteAnswered, oneForEachRefusal } from '../state/refusals.ts'
import { halt, haltForKey, isFlattening, isKilling, isTrading } from '../state/trading-mode.ts'
import { type ApprovedOrders, approveOrders } from './approve-orders.ts'
import { type InstrumentPlan, noteLastingDenials, planInstrument } from './plan-instrument.ts'

export function scheduleInstrument(core: Core, instrument: InstrumentState): void {
  if (instrument.phase !== 'idle') wantNoBatch(instrument)
  if (instrument.displaced.length > 0) watchDisplaced(core, instrument)
  if (instrument.phase === 'placing' && instrument.displaced.length === 0) {
    noteSettled(core.changes, instrument.symbol)
  }
  if (instrument.phase !== 'idle' || core.run.phase === 'stopped') return
  const { states } = totalsOf(core, instrument.symbol)
  if (states.has('unknown')) return startResolution(core, instrument, 'unknown')
  if (states.has('quarantined') && !isHalted(core.book, instrument.symbol))
    return startResolution(core, instrument, 'released')
  if (isStarting(core, instrument)) return
  // A cancel-all for all left while a batch was out: which of its orders it met is unknown.
  if (core.book.cancels.has(instrument.symbol))
    return startResolution(core, instrument, 'cancelledAlong')
  const plan = planInstrument(core, instrument.symbol)
  if (plan.stale.size > 0) {
    dropStale(core, instrument.symbol, plan.stale)
    return scheduleInstrument(core, instrument)
  }
  const isRunning = isTrading(core)
  // During a stop missing orders are left to the next run.
  if (isRunning && isCrossedTooLong(core, instrument))
    return startResolution(core, instrument, 'missing')
  noteUnwanted(instrument, namesOf(plan.unwanted), core.now)
  if (mustCancel(core, plan)) {
    return startResolution(core, instrument, isRunning ? 'unwanted' : 'command')
  }
  const approved = approveOrders(core, instrument.symbol, plan.candidates)
  notePlanDenials(core, instrument.symbol, approved)
  askForCancelWhenDue(core, instrument)
  askForBatch(core, instrument, approved)
  if (isRunning) noteWhatIsLeft(core, instrument, plan, approved)
}

function noteWhatIsLeft(
  core: Core,
  { symbol, displaced }: InstrumentState,
  { candidates, unwanted, waiting }: InstrumentPlan,
  { denials }: ApprovedOrders,
): void {
  if (waiting > 0 || unwanted.size > 0 || isBeyondOrder(core, symbol)) return
  // A displaced order that was reported as late waits only for a record.
  if (!displaced.every(({ isLateLogged }) => isLateLogged)) return
  if (candidates.length === 0) return noteSettled(core.changes, symbol)
  const isAllDenied = denials.length === candidates.length
  if (isAllDenied && candidates.every(({ resendOf }) => resendOf === undefined))
    noteLastingDenials(core, symbol, denials)
}

function askForBatch(
  core: Core,
  instrument: InstrumentState,
  { items, reduces }: ApprovedOrders,
): void {
  if (items.length === 0 || packInstrument(core, instrument, items).length === 0) {
    return wantNoBatch(instrument)
  }
  // A displaced order has waited since its cancel-all.
  wantBatch(instrument, instrument.displaced[0]?.since ?? core.now, reduces)
  askForGrant(core, 'batchPlaceOrder', reduces ? 'reduce' : 'add')
}

/**
 * The most urgent instrument is planned again on what is known now (late binding). Where nothing is
 * wanted any more the grant goes back.
 */
export function placeBatch(core: Core): void {
  for (const instrument of instrumentsAwaitingBatch(core).sort(byReductionAndWait)) {
    if (sendBatchOf(core, instrument)) return askForNext(core)
  }
  emit(core, { kind: 'returnGrant', endpoint: 'batchPlaceOrder' })
}

function askForNext(core: Core): void {
  const next = instrumentsAwaitingBatch(core)
  if (next.length === 0) return
  askForGrant(
    core,
    'batchPlaceOrder',
    next.some(({ wantsReduce }) => wantsReduce) ? 'reduce' : 'add',
  )
}

function instrumentsAwaitingBatch(core: Core): InstrumentState[] {
  return [...core.instruments.values()].filter(
    ({ wantsBatchSince, phase }) => wantsBatchSince !== undefined && phase === 'idle',
  )
}

function byReductionAndWait(left: InstrumentState, right: InstrumentState): number {
  const reduces = Number(right.wantsReduce) - Number(left.wantsReduce)
  return reduces || (left.wantsBatchSince ?? 0) - (right.wantsBatchSince ?? 0)
}

function sendBatchOf(core: Core, instrument: InstrumentState): boolean {
  const { symbol } = instrument
  const { items } = approveOrders(core, symbol, planInstrument(core, symbol).candidates)
  const orders = packInstrument(core, instrument, items).flatMap(
    (item) => nameOrder(core, item) ?? [],
  )
  const batch = orders.length === 0 ? undefined : recordBatch(core, instrument, orders)
  wantNoBatch(instrument)
  if (batch === undefined) return false
  const { batchId, clientOids } = batch
  enterPlacing(instrument)
  openBatch(core, batchId, { symbol, clientOids })
  announce(core, 'debug', 'batch.sent', { batchId, symbol, orders: clientOids.length })
  for (const { terms } of orders)
    announce(core, 'info', 'order.sent', describeTerms(batchId, terms))
  emit(core, { kind: 'sendBatch', batch })
  return true
}

function packInstrument(
  core: Core,
  { symbol, wantsCancel }: InstrumentState,
  items: readonly ApprovedItem[],
): readonly ApprovedItem[] {
  const leaving = wantsCancel ? items.filter(({ intent }) => !canRest(intent)) : items
  const nameless = namelessOrders(core.book, symbol)
  // A flatten ignores quarantined orders, which cannot be accepted any more.
  const isFlatten = items.every(({ intent }) => intent.purpose === 'flatten')
  return packBatch(core.refusals.size > 0 ? oneForEachRefusal(core, leaving) : leaving, {
    max: core.settings.execution.batchOrdersMax,
    mode: core.settings.positionMode,
    nameless: isFlatten ? nameless.filter(({ state }) => state !== 'quarantined') : nameless,
  })
}

function describeTerms(batchId: number, terms: Order['terms']): Record<string, unknown> {
  const { clientOid, strategyId, symbol, purpose, action, lots, ticks, force, exit } = terms
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
    ...(exit && { exit }),
  }
}

function dropStale(core: Core, symbol: string, orders: ReadonlySet<Order>): void {
  record(core, {
    kind: 'expire',
    at: core.now,
    orders: Array.from(orders, ({ terms: { clientOid }, attempts }) => ({
      clientOid,
      state: attempts === 0 ? 'expired' : 'unknown',
    })),
    places: [],
    reason: 'no longer wanted',
  })
  for (const clientOid of namesOf(orders))
    announce(core, 'info', 'order.dropped', { clientOid, symbol })
}

function namesOf(orders: Iterable<Order>): readonly ClientOid[] {
  return Array.from(orders, ({ terms }) => terms.clientOid)
}

/**
 * A kill, a stop, a flatten, a restriction and a withdrawal do not wait until a cancel-all is due.
 */
function mustCancel(core: Core, { unwanted, isRestricted }: InstrumentPlan): boolean {
  const { run, book } = core
  if (unwanted.size === 0) return false
  if (isKilling(core)) return true
  if (run.phase !== 'running') return run.stop !== undefined && run.stop.policy !== 'leave'
  if (isRestricted) return true
  return [...unwanted].some(
    ({ terms }) =>
      book.withdrawn.has(terms.clientOid) || isFlattening(core, terms.symbol, terms.strategyId),
  )
}

/** Until the grant no order that could rest is placed: the cancel-all would take it at once. */
function askForCancelWhenDue(core: Core, instrument: InstrumentState): void {
  // A stop that leaves orders keeps all of them.
  const isDue =
    instrument.unwantedSince.size > 0 && isTrading(core) && isCancelDue(core, instrument)
  noteCancelDue(instrument, isDue)
  if (isDue) askForCancel(core)
}

/**
 * The order must have been filled by now, and no fill came. The exchange may have dropped it
 * silently, which only a resolution can prove.
 */
function isCrossedTooLong(core: Core, instrument: InstrumentState): boolean {
  const { symbol, crossedSince } = instrument
  noteCrossed(instrument, namesOf(crossedOrders(core, symbol)), core.now)
  const { crossedToleranceMs } = core.settings.execution
  const missing = [...crossedSince].filter(([, since]) => core.now - since >= crossedToleranceMs)
  for (const [clientOid] of missing) announce(core, 'warn', 'order.missing', { symbol, clientOid })
  return missing.length > 0
}

/**
 * Our acceptance window counts from the record of a batch, the exchange's from its signature. So a
 * batch is signed within a tenth of the window, or not sent. By default that is 3.5 of 35 s; the
 * exchange tolerates 30 s (A1).
 */
const SIGNED_WITHIN = 10

export function signedWithinMs({
  acceptanceWindowMs,
}: {
  readonly acceptanceWindowMs: number
}): number {
  return acceptanceWindowMs / SIGNED_WITHIN
}

interface NamedOrder {
  readonly terms: OrderTerms
  readonly isAgain: boolean
  /** Unix ms, our clock: the order does not leave later. */
  readonly deadlineAt: number
}

function nameOrder(core: Core, { intent, resendOf }: ApprovedItem): NamedOrder | undefined {
  const { deadlineAt } = intent
  if (resendOf === undefined) return { terms: toTerms(core, intent), isAgain: false, deadlineAt }
  const terms = core.book.orders.get(resendOf)?.terms
  return terms && { terms, isAgain: true, deadlineAt }
}

function toTerms(core: Core, intent: OrderIntent): OrderTerms {
  const last = core.book.keys.get(pairKey(intent.strategyId, intent.key))
  const generation = last === undefined ? 0 : last.generation + 1
  const { ticks, takeProfitTicks, stopLossTicks, ...terms } = intent
  return {
    ...terms,
    strategyId: intent.strategyId as StrategyId,
    clientOid: deriveClientOid({
      salt: core.settings.salt,
      strategyId: intent.strategyId,
      key: intent.key,
      generation,
    }),
    generation,
    ...(ticks === undefined ? {} : { ticks }),
    ...(takeProfitTicks === undefined ? {} : { takeProfitTicks }),
    ...(stopLossTicks === undefined ? {} : { stopLossTicks }),
  }
}

/**
 * ORD1: the exact bytes are recorded before they may be sent. They are valid as long as prices
 * (MKT1) and orders are; the account's age is judged right before the first byte (MKT3).
 */
function recordBatch(
  core: Core,
  instrument: InstrumentState,
  orders: readonly NamedOrder[],
): Recorded<OutgoingBatch> {
  const { symbol, wantsBatchSince } = instrument
  const batchId = core.book.batchId + 1
  const terms = orders.map((order) => order.terms)
  const { positionMode } = core.settings
  const account = { positionMode, marginMode: noteModeSent(core, instrument, terms) }
  const body = JSON.stringify(buildBatchRequest(account, specOf(core, symbol), terms))
  const batch: OutgoingBatch = {
    batchId,
    symbol,
    clientOids: terms.map(({ clientOid }): ClientOid => clientOid),
    body,
    validUntilAt: Math.min(
      freshUntil(core, symbol),
      core.now + signedWithinMs(core.settings.execution),
      ...orders.map((order) => order.deadlineAt),
    ),
  }
  notePace(core, terms)
  const waitedMs = core.now - (wantsBatchSince ?? core.now)
  return recordBefore(
    core,
    {
      kind: 'send',
      at: core.now,
      batchId,
      symbol,
      orders: orders.filter((order) => !order.isAgain).map((order) => order.terms),
      again: orders.filter((order) => order.isAgain).map((order) => order.terms.clientOid),
      requestAt: exchangeNow(core),
      body,
      seen: { snapshot: core.market.snapshots, market: seenMarketOf(core, symbol), waitedMs },
    },
    batch,
  )
}

/** No answer is an outcome too. */
export function answerBatch(core: Core, batchId: number, answer: Answer<BatchResult>): void {
  const batch = closeBatch(core, batchId)
  if (!batch) return
  const items = readBatchOutcome(batch.clientOids, answer)
  judgeFills(core, items)
  record(
    core,
    { kind: 'outcome', at: core.now, batchId, items, answer: toFacts(answer) },
    items.some((item) => item.outcome === 'unknown'),
  )
  announce(core, answer.kind === 'unknown' ? 'warn' : 'debug', 'batch.answered', {
    batchId,
    symbol: batch.symbol,
    answer: answer.kind,
    ...(answer.kind === 'accepted' ? {} : { code: answer.code, message: answer.message }),
  })
  for (const item of items) announceItem(core, batchId, batch.symbol, item)
  noteOutcomes(core, items)
  for (const item of items) judgeRejection(core, item)
  const refused = items.find(({ outcome }) => outcome === 'clockRefused')
  if (refused) noteBatchClockRefused(core, refused.code ?? '')
  else if (answer.kind === 'accepted') noteBatchClockAccepted(core)
  noteModeAnswered(instrumentOf(core, batch.symbol), items)
  judgeCodes(core, batch.symbol, answer, items)
  leavePlacing(instrumentOf(core, batch.symbol))
  judgeNames(core, batch.symbol, items)
}

function toFacts(answer: Answer<BatchResult>): AnswerFacts {
  const { kind, requestTime } = answer
  const time = requestTime === undefined ? {} : { requestTime }
  if (answer.kind === 'accepted') return { kind, code: '00000', ...time }
  const { status } = answer
  const code = answer.code || (answer.kind === 'unknown' ? answer.cause : answer.class)
  return { kind, code, ...(status === undefined ? {} : { status }), ...time }
}

const LEVELS: Readonly<Record<ItemOutcome['outcome'], 'info' | 'warn'>> = {
  accepted: 'info',
  exists: 'warn',
  rejected: 'warn',
  clockRefused: 'warn',
  notSent: 'warn',
  unknown: 'warn',
}

function announceItem(core: Core, batchId: number, symbol: string, item: ItemOutcome): void {
  const { clientOid, outcome, orderId, code, message } = item
  const state = core.book.orders.get(clientOid)?.state
  announce(core, LEVELS[outcome], `order.${outcome}`, {
    clientOid,
    symbol,
    batchId,
    state,
    ...(orderId === undefined ? {} : { orderId }),
    ...(code === undefined ? {} : { code, message }),
  })
}

/** A refused order is not placed again on the same prices: its strategy decides first. */
function noteOutcomes(core: Core, items: readonly ItemOutcome[]): void {
  const answered = items.flatMap(({ clientOid, outcome, code, message }) => {
    const terms = core.book.orders.get(clientOid)?.terms
    return terms === undefined ? [] : [{ terms, outcome, code, message }]
  })
  for (const { terms, outcome } of answered) {
    if (outcome === 'rejected') holdQuote(core, terms.strategyId, terms.symbol)
  }
  noteAnswered(core, answered)
}

/**
 * Some codes are about the account and would only come again: refused keys, missing permissions,
 * the wrong position mode.
 */
function judgeCodes(
  core: Core,
  symbol: string,
  answer: Answer<BatchResult>,
  items: readonly ItemOutcome[],
): void {
  const codes = [
    ...items.map((item) => item.code),
    answer.kind === 'refused' ? answer.code : undefined,
  ]
  for (const code of codes) {
    if (code === undefined) continue
    const { topic } = errorCode(code)
    if (topic === 'auth') return haltForKey(core, code)
    if (topic === 'positionMode')
      return halt(
        core,
        symbol,
        'refused',
        `account.positionMode ${core.settings.positionMode} of the configuration is not the account's. Set it at the exchange, or change the setting and restart, before the release, or the next order is refused again: ${code}`,
      )
    if (topic === 'accountRisk')
      return halt(core, symbol, 'refused', `the exchange restricts the account: ${code}`)
  }
}
