import {
  createSentOrder,
  markAbsent,
  markAccepted,
  markClockRefused,
  markDone,
  markExpired,
  markLost,
  markNotSent,
  markQuarantined,
  markQueuedAgain,
  markRejected,
  markReleased,
  markSentAgain,
  markUnknown,
} from '../../execution/order-machine.ts'
import { DEPOSITS_MAX } from '../../domain/deposit.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import type { Order } from '../../domain/order.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import { type Holding, type HoldingChange, netLots } from '../../domain/position.ts'
import type {
  AdoptRecord,
  AssignedRecord,
  BootRecord,
  CancelAnsweredRecord,
  DecisionRecord,
  DepositRecord,
  ExitsListedRecord,
  ExitsRecord,
  ExpireRecord,
  FillsRecord,
  FundingRecord,
  ItemOutcome,
  JournalRecord,
  LadderChange,
  OutcomeRecord,
  PruneRecord,
  ReleasedRecord,
  RepairedRecord,
  RestrictedRecord,
  SendRecord,
  SettledOrder,
  SettleRecord,
  SignalRecord,
  UnseenFundingRecord,
} from '../../domain/record.ts'
import {
  ACCOUNT,
  type ModeReason,
  type Restriction,
  strategyScope,
} from '../../domain/trading-mode.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { mutable } from '../../lib/mutable.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import { unreachable } from '../../lib/unreachable.ts'
import {
  applyFill,
  bindOrphans,
  disownOrphans,
  moveAccountEntry,
  stateEntry,
} from './apply-fill.ts'
import { applyDeparture, applyRules, applyUniverse } from './apply-universe.ts'
import {
  allOpenOrders,
  accountHoldingOf,
  type Book,
  pairKey,
  pairOf,
  removePlace,
  splitPair,
  storeOrder,
  storePlace,
  type WritableBook,
  type EndedOrder,
} from './book.ts'
import { applyMove } from './allocation.ts'
import { applyCandles } from './candle-book.ts'
import { applyGrids } from './convert-grids.ts'
import type { QuoteLevel } from '../../domain/intent.ts'
import type { Watermark } from '../../domain/loss-limits.ts'

/**
 * The lost part of a journal may have used ordinals, so a repair skips more than any journal uses
 * (ORD2). A thousand repairs stay below the largest exact integer.
 */
const ORDINALS_SKIPPED = 1_000_000_000

/** Only this function changes the book (DET2). */
export function applyRecord(target: Book, record: JournalRecord): void {
  const book = mutable(target)
  book.recordedAt = record.at
  switch (record.kind) {
    case 'boot':
      return applyBoot(book, record)
    case 'decision':
      return applyDecision(book, record)
    case 'send':
      return applySend(book, record)
    case 'outcome':
      return applyOutcomes(book, record)
    case 'fills':
      return applyFills(book, record)
    case 'cancelAnswered':
      return applyCancelAnswered(book, record)
    case 'settle':
      return applySettle(book, record)
    case 'expire':
      return applyExpire(book, record)
    case 'adopt':
      return applyAdopt(book, record)
    case 'assigned':
      return applyAssigned(book, record)
    case 'entry':
      return stateEntry(book, record)
    case 'foreign':
      return disownOrphans(book, record.orderIds)
    case 'funding':
      return applyFunding(book, record)
    case 'unseenFunding':
      return applyUnseenFunding(book, record)
    case 'restricted':
      return applyRestricted(book, record)
    case 'released':
      return applyReleased(book, record)
    case 'prune':
      return applyPrune(book, record)
    case 'repaired':
      return applyRepaired(book, record)
    case 'call':
    case 'denial':
    case 'reload':
      return
    case 'archived':
      return void (book.archivedBefore = Math.max(book.archivedBefore, record.before))
    case 'deposit':
      return applyDeposit(book, record)
    case 'candles':
      return applyCandles(book, record)
    case 'watermark':
      return applyWatermarks(book, record.watermarks)
    case 'exits':
    case 'exitsListed':
      return applyExits(book, record)
    case 'universe':
      return applyUniverse(book, record)
    case 'departed':
      return applyDeparture(book, record)
    case 'signal':
      return applySignal(book, record)
    case 'callEnded':
      return void book.calls.delete(pairKey(record.strategyId, record.key))
    case 'cancel':
      for (const symbol of record.symbols) book.cancels.set(symbol, record.requestAt)
      return
    default:
      return unreachable(record)
  }
}

function applyWatermarks(book: WritableBook, watermarks: readonly Watermark[]): void {
  for (const watermark of watermarks) book.watermarks.set(watermark.scope, watermark)
}

function applyOutcomes(book: WritableBook, { items, at }: OutcomeRecord): void {
  for (const item of items) applyOutcome(book, item, at)
}

function applyFills(book: WritableBook, record: FillsRecord): void {
  for (const fill of record.fills) applyFill(book, fill, record)
}

function applyCancelAnswered(book: WritableBook, { listed, at }: CancelAnsweredRecord): void {
  for (const { clientOid, orderId } of listed)
    changeOrder(book, clientOid, (order) => markAccepted(order, orderId, at))
}

function applyRestricted(book: WritableBook, record: RestrictedRecord): void {
  const { kind: _, ...restriction } = record
  book.restrictions.set(pairKey(record.scope, record.code), restriction)
}

function applyExits(book: WritableBook, record: ExitsRecord | ExitsListedRecord): void {
  if (record.kind === 'exitsListed') {
    const { symbol, holdSide, listed } = record
    return applyMove(book, symbol, { kind: 'exitsListed', holdSide, listed })
  }
  const { strategyId, symbol, state } = record
  const pair = pairOf(strategyId, symbol)
  if (state === null) book.exitStates.delete(pair)
  else book.exitStates.set(pair, state)
}

function applySignal(
  book: WritableBook,
  { at, feed, id, value, untilAt, sentAt, idsBefore }: SignalRecord,
): void {
  const sent = sentAt === undefined ? {} : { sentAt }
  book.signals.set(feed, deepFreeze({ data: value, readAt: at, id, untilAt, ...sent }))
  for (const [key, takenAt] of book.signalIds)
    if (takenAt < idsBefore && splitPair(key)[0] === feed) book.signalIds.delete(key)
  book.signalIds.set(pairKey(feed, id), at)
}

function applyDeposit(book: WritableBook, { deposit }: DepositRecord): void {
  book.deposits.set(deposit.id, deposit)
  if (deposit.isCapital)
    book.deposited = decimal(book.deposited).plus(decimal(deposit.amount)).toString()
  if (book.deposits.size <= DEPOSITS_MAX) return
  const [oldest] = book.deposits.keys()
  if (oldest !== undefined) book.deposits.delete(oldest)
}

function applyBoot(book: WritableBook, record: BootRecord): void {
  if (book.epoch === 0) book.beganAt = record.at
  book.epoch = record.epoch
  book.positionMode = record.positionMode
  book.fillsThroughAt ||= record.exchangeAt
  for (const [symbol, grids] of Object.entries(record.grids ?? {})) applyGrids(book, symbol, grids)
  if (record.rules) applyRules(book, record.rules)
}

function applyDecision(book: WritableBook, record: DecisionRecord): void {
  const { strategyId } = record
  if (record.stateText !== undefined) book.strategyStates.set(strategyId, record.stateText)
  for (const change of record.quotes ?? []) {
    const pair = pairOf(strategyId, change.symbol)
    const levels = applyLadderChange(book.quotes.get(pair) ?? [], change)
    if (levels.length === 0) book.quotes.delete(pair)
    else book.quotes.set(pair, levels)
  }
  for (const { symbol, lots, tag } of record.targets ?? []) {
    const pair = pairOf(strategyId, symbol)
    book.targets.set(pair, lots)
    if (tag === undefined) book.targetTags.delete(pair)
    else book.targetTags.set(pair, tag)
  }
  for (const place of record.places ?? []) storePlace(book, place)
  for (const call of record.calls ?? []) {
    book.calls.set(pairKey(strategyId, call.key), call)
    book.callKeys.set(pairKey(strategyId, call.key), record.at)
  }
  for (const clientOid of record.withdrawn ?? []) book.withdrawn.add(clientOid)
}

function applySend(book: WritableBook, record: SendRecord): void {
  book.batchId = record.batchId
  for (const terms of record.orders) {
    const key = pairKey(terms.strategyId, terms.key)
    storeOrder(book, createSentOrder(terms, record.requestAt))
    if (terms.purpose === 'place') {
      book.keys.set(key, {
        clientOid: terms.clientOid,
        generation: terms.generation,
        at: record.at,
      })
      removePlace(book, key)
    } else {
      const wish = pairOf(terms.strategyId, terms.symbol)
      book.ordinals.set(wish, Math.max(book.ordinals.get(wish) ?? 0, ordinalOf(terms.key) + 1))
    }
  }
  for (const clientOid of record.again)
    changeOrder(book, clientOid, (order) => markSentAgain(order, record.requestAt))
}

/** Keys of ladders and targets end in their ordinal: `quote:BTCUSDT:17`. */
function ordinalOf(key: string): number {
  return Number(key.slice(key.lastIndexOf(':') + 1))
}

function applyOutcome(book: WritableBook, item: ItemOutcome, at: number): void {
  const reason = item.code === undefined ? '' : `${item.code} ${item.message ?? ''}`.trim()
  changeOrder(book, item.clientOid, (order) => {
    switch (item.outcome) {
      case 'accepted':
      case 'exists':
        return markAccepted(order, item.orderId, at)
      case 'rejected':
        return markRejected(order, reason)
      case 'notSent':
        return markNotSent(order, reason)
      case 'clockRefused':
        return markClockRefused(order, reason)
      case 'unknown':
        return markUnknown(order, reason, item.isAnswered)
      default:
        return unreachable(item.outcome)
    }
  })
}

function applySettle(book: WritableBook, { orders, symbol, isResolved }: SettleRecord): void {
  for (const settled of orders) applySettled(book, settled)
  if (isResolved) book.cancels.delete(symbol)
}

function applySettled(book: WritableBook, settled: SettledOrder): void {
  changeOrder(book, settled.clientOid, (order) => {
    switch (settled.state) {
      case 'done':
        return markDone(order, settled.orderId, settled.reason)
      case 'absent':
        return markAbsent(order, settled.reason)
      case 'quarantined':
        return markQuarantined(order, settled.reason)
      case 'queued':
        return markQueuedAgain(order, settled.reason)
      case 'released':
        return markReleased(order, settled.orderId, settled.reason)
      default:
        return unreachable(settled.state)
    }
  })
  const { replacement } = settled
  if (replacement) storePlace(book, replacement)
}

function applyExpire(book: WritableBook, record: ExpireRecord): void {
  for (const { clientOid, state } of record.orders) {
    changeOrder(book, clientOid, (order) =>
      state === 'expired' ? markExpired(order, record.reason) : markUnknown(order, record.reason),
    )
  }
  for (const { strategyId, key } of record.places) {
    const pair = pairKey(strategyId, key)
    removePlace(book, pair)
    forgetKey(book, pair)
  }
}

/** A key stays while the book holds its last order, or an order that waits to be placed. */
function forgetKey(book: WritableBook, pair: string): void {
  const entry = book.keys.get(pair)
  if (entry && !book.orders.has(entry.clientOid) && !book.places.has(pair)) book.keys.delete(pair)
}

function applyAdopt(book: WritableBook, { symbol, holding, was }: AdoptRecord): void {
  const before = accountHoldingOf(book, symbol)
  applyMove(book, symbol, {
    kind: 'adopt',
    holding,
    taken: closedBetween(book.positionMode, was, holding),
  })
  moveAccountEntry(book, symbol, { before, ticks: undefined })
}

function applyAssigned(book: WritableBook, record: AssignedRecord): void {
  const { symbol, strategyId, holding, longTicks, shortTicks } = record
  const sides = [
    { side: 'buy', tradeSide: 'open', lots: holding.longLots, ticks: longTicks },
    { side: 'sell', tradeSide: 'open', lots: holding.shortLots, ticks: shortTicks },
  ] as const
  const taken = sides.filter(({ lots }) => lots > 0)
  applyMove(book, symbol, { kind: 'assign', owner: strategyId, taken })
}

function closedBetween(mode: PositionMode, was: Holding, now: Holding): readonly HoldingChange[] {
  if (mode === 'one_way_mode') {
    const change = netLots(now) - netLots(was)
    return [{ side: change > 0 ? 'buy' : 'sell', tradeSide: 'close', lots: Math.abs(change) }]
  }
  const longLots = Math.max(0, was.longLots - now.longLots)
  const shortLots = Math.max(0, was.shortLots - now.shortLots)
  return [
    { side: 'buy', tradeSide: 'close', lots: longLots },
    { side: 'sell', tradeSide: 'close', lots: shortLots },
  ]
}

function applyReleased(book: WritableBook, { scope, code, peak }: ReleasedRecord): void {
  if (peak === 'new') forgetPeak(book, scope, false)
  for (const [key, held] of book.restrictions) {
    const isNamed = code === undefined ? held.code !== 'kill' : held.code === code
    if (held.scope !== scope || !isNamed) continue
    book.restrictions.delete(key)
    forgetLosses(book, held, peak)
  }
}

function applyFunding(book: WritableBook, record: FundingRecord): void {
  book.fundingCounters.set(pairKey(record.symbol, record.holdSide), record.counter)
  book.funding.set(
    record.symbol,
    (book.funding.get(record.symbol) ?? ZERO).plus(decimal(record.change)),
  )
}

function applyUnseenFunding(
  book: WritableBook,
  { symbol, paidAt, change }: UnseenFundingRecord,
): void {
  const { amount = '0', payments = 0 } = book.unseenFunding.get(symbol) ?? {}
  book.unseenFunding.set(symbol, {
    amount: decimal(amount).plus(decimal(change)).toString(),
    payments: payments + 1,
    lastAt: paidAt,
  })
}

function applyPrune(book: WritableBook, record: PruneRecord): void {
  const { ordersBefore, ordersMax } = record
  for (const { clientOid, endedAt } of takeEndedBefore(book.ended, ordersBefore, ordersMax)) {
    const order = book.orders.get(clientOid)
    if (order?.endedAt !== endedAt) continue
    book.orders.delete(clientOid)
    if (order.orderId !== undefined) book.byOrderId.delete(order.orderId)
    if (order.terms.purpose === 'place')
      forgetKey(book, pairKey(order.terms.strategyId, order.terms.key))
  }
  for (const [key, at] of book.callKeys) {
    if (at < record.keysBefore && !book.calls.has(key)) book.callKeys.delete(key)
  }
  book.fillsThroughAt = record.isBroughtBack
    ? record.fillsThroughAt
    : Math.max(book.fillsThroughAt, record.fillsThroughAt)
  book.tradesSinceAt = Math.max(book.tradesSinceAt, record.tradesBefore)
  for (const [key, filledAt] of book.trades) {
    if (filledAt < book.tradesSinceAt) book.trades.delete(key)
  }
}

function changeOrder(
  book: WritableBook,
  clientOid: Order['terms']['clientOid'],
  change: (order: Order) => Order,
): void {
  const order = book.orders.get(clientOid)
  if (!order) return
  const changed = change(order)
  storeOrder(book, changed)
  if (changed.orderId !== undefined && book.orphans.has(changed.orderId))
    bindOrphans(book, changed.orderId)
}

/**
 * Any order may have ended, or still arrive, so all open ones become unknown. The account is halted
 * until an operator has compared it with the exchange.
 */
function applyRepaired(book: WritableBook, record: RepairedRecord): void {
  const { at, reason, strategies, symbols } = record
  book.recordsLostAt = at
  const restriction = {
    scope: ACCOUNT,
    mode: 'halted',
    code: 'repaired',
    reason,
    by: 'repair',
    at,
  } as const
  book.restrictions.set(pairKey(ACCOUNT, 'repaired'), restriction)
  for (const order of allOpenOrders(book)) storeOrder(book, markLost(order, reason, at))
  for (const symbol of symbols) book.cancels.set(symbol, at)
  // Orders that wait to be placed may have been sent in the lost part.
  for (const pair of Array.from(book.places.keys())) removePlace(book, pair)
  const wishes = [...strategies, MANUAL].flatMap((id) =>
    symbols.map((symbol) => pairKey(id, symbol)),
  )
  for (const wish of new Set([...book.ordinals.keys(), ...wishes])) {
    book.ordinals.set(wish, (book.ordinals.get(wish) ?? 0) + ORDINALS_SKIPPED)
  }
}

/** Names earlier levels by their place, which is shorter. */
export function buildLadderChange(
  symbol: string,
  before: readonly QuoteLevel[],
  levels: readonly QuoteLevel[],
): LadderChange {
  const places = new Map(before.map((level, place) => [nameOf(level), place]))
  const rungs = levels.map((level) => places.get(nameOf(level)) ?? level)
  return rungs.some((rung) => typeof rung === 'number') ? { symbol, rungs } : { symbol, levels }
}

/** Ignores an unknown place, because a fold must never throw. */
export function applyLadderChange(
  before: readonly QuoteLevel[],
  change: LadderChange,
): readonly QuoteLevel[] {
  if ('levels' in change) return change.levels
  return change.rungs.flatMap((rung) => (typeof rung === 'number' ? (before[rung] ?? []) : rung))
}

export function levelsNamedBy(change: LadderChange): readonly QuoteLevel[] {
  if ('levels' in change) return change.levels
  return change.rungs.filter((rung) => typeof rung !== 'number')
}

export function countLevels(change: LadderChange): number {
  return 'levels' in change ? change.levels.length : change.rungs.length
}

function nameOf({ side, ticks, lots, tag = '' }: QuoteLevel): string {
  return `${side} ${ticks} ${lots} ${tag}`
}

function forgetLosses(
  book: WritableBook,
  { scope, code }: Restriction,
  keepsPeak: ReleasedRecord['peak'],
): void {
  if (code === 'losingStreak') return forgetStreak(book, scope)
  const watermark = book.watermarks.get(scope)
  if (code === 'dailyLoss' && watermark) book.watermarks.set(scope, { ...watermark, dayNet: null })
  if (OF_DRAWDOWN.has(code)) forgetPeak(book, scope, keepsPeak === 'kept')
}

const OF_DRAWDOWN: ReadonlySet<ModeReason> = new Set(['drawdown', 'drawdownFlatten'])

/** Drawdown steps count from a new peak, except a last one that is kept. */
function forgetPeak(book: WritableBook, scope: string, isLastKept: boolean): void {
  const known = book.watermarks.get(scope)
  if (!known) return
  const { lastPeak: _lastPeak, ...watermark } = known
  const kept = isLastKept ? lastPeakOf(known) : undefined
  book.watermarks.set(scope, {
    ...watermark,
    peak: null,
    ...(kept !== undefined && { lastPeak: kept }),
  })
}

/** Undefined: the peak is taken anew. */
export function lastPeakOf({ peak, lastPeak }: Watermark): number | undefined {
  if (peak === null || lastPeak === undefined) return peak ?? lastPeak
  return Math.max(peak, lastPeak)
}

function forgetStreak(book: WritableBook, scope: string): void {
  for (const pair of Array.from(book.ownTrades.keys())) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyScope(strategyId) === scope)
      applyMove(book, symbol, { kind: 'streakForgotten', strategyId })
  }
}

/**
 * Takes the oldest, `max` at most; the cost does not depend on how many stay. Orders of one moment
 * go by name: a rebuilt book may hold them in another order, and must forget the same ones (DET2).
 */
export function takeEndedBefore(
  ended: EndedOrder[],
  at: number,
  max = Number.POSITIVE_INFINITY,
): readonly EndedOrder[] {
  let count = 0
  const isDue = (place: number) => place < ended.length && (ended[place] as EndedOrder).endedAt < at
  while (count < max && isDue(count)) count++
  if (count < max) return ended.splice(0, count)
  const last = ended[count - 1]?.endedAt
  let tied = count
  while (tied < ended.length && ended[tied]?.endedAt === last) tied++
  const due = ended.splice(0, tied).toSorted(byTimeAndName)
  ended.unshift(...due.slice(count))
  return due.slice(0, count)
}

function byTimeAndName(one: EndedOrder, other: EndedOrder): number {
  if (one.endedAt !== other.endedAt) return one.endedAt - other.endedAt
  return one.clientOid < other.clientOid ? -1 : 1
}
