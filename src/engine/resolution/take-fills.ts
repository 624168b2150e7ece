import { type CoinFee, type Fill, type FillsReading, isOfOthers } from '../../domain/fill.ts'
import {
  feeOf,
  profitOf,
  roundMoney,
  sumMoney,
  toFeesText,
  uncountedOf,
} from '../../domain/fill-money.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import type { FillsRecord } from '../../domain/record.ts'
import { countUnsettled, UNSETTLED_MOVES_MAX } from '../book/allocation.ts'
import {
  accountHoldingOf,
  type Book,
  holdingOf,
  knowsFill,
  openOrdersOf,
  moneyOf,
} from '../book/book.ts'
import { exchangeNow, marketOf } from '../state/market-state.ts'
import { announce, type Core, record, specOf } from '../state/core.ts'
import {
  announceSystemFills,
  disown,
  haltForForeign,
  isAnnounced,
  isForeign,
  judgeUnownedFills,
  settleByEvidence,
} from './evidence.ts'
import { announceEnd, distrustResting, noteFillsForResolution } from './resolution.ts'
import { halt, isFlattening, RELEASE_HINT } from '../state/trading-mode.ts'
import { holdQuote } from '../state/decision-state.ts'
import { askForPositionSoon, noteFillsRead, takeSettledOrphans } from '../state/readings.ts'
import { totalsOf } from '../state/totals.ts'
import { tradersOf } from '../state/roster.ts'
import { type EstimatedPayment, takeEndedPayments } from '../state/unseen-funding.ts'
import { askAfterFills } from '../strategies/ask-to-decide.ts'
import { comparePosition, noteFundingBefore, noteRecentFills } from './reconcile.ts'
import { hasUnreadableRows, isReadingAgain, takeUnreadableFills } from './unreadable.ts'
import { decimal } from '../../lib/decimal.ts'
import { floatOnGrid, showOnGrid } from '../../lib/grid.ts'
import { findFilledExit } from '../book/apply-fill.ts'
import { figureSettingsOf } from '../state/disputes.ts'
import { inMarginCoin } from '../state/own-figure.ts'

/** Each new fill enters the book once. */
export function takeFills(core: Core, reading: FillsReading): void {
  takeUnreadableFills(core, reading)
  const fills = reading.fills.filter(
    // An older fill may be a trade that the book has forgotten since this read began.
    (fill) =>
      fill.filledAt >= core.book.tradesSinceAt &&
      !knowsFill(core.book, fill) &&
      core.instruments.has(fill.symbol),
  )
  const owners = fills.length === 0 ? NOBODY : takeNewFills(core, reading, fills)
  const readableAt = noteFillsRead(core, reading, isReadingAgain(core))
  settleTakers(core, readableAt)
  if (core.book.orphans.size > 0) judgeUnownedFills(core)
  for (const instrument of core.instruments.values()) {
    if (hasUnreadableRows(core, instrument.symbol)) continue
    noteFillsForResolution(core, instrument, reading.requestedAt)
    comparePosition(core, instrument)
  }
  askAfterFills(core, owners)
}

const NOBODY: ReadonlySet<StrategyId> = new Set()

/** @returns the owners of the fills */
function takeNewFills(
  core: Core,
  reading: FillsReading,
  fills: readonly Fill[],
): ReadonlySet<StrategyId> {
  haltOnUnsettled(core, fills)
  // Either clock may be behind. A fill dated later than both has a wrong date.
  const heardAt = Math.max(reading.exchangeTime, exchangeNow(core))
  // A wrong date, or a row to be read again, must not make later reads begin too late.
  const throughAt = isReadingAgain(core) ? reading.sinceAt : heardAt
  const bound = fills.some(({ filledAt }) => filledAt > throughAt) ? { throughAt } : {}
  noteFundingBefore(core, fills)
  const unseen = takeEndedPayments(core, fills)
  if (fills.some(({ source }) => source === 'SYS')) distrustResting(core)
  const foreign = new Set(fills.filter((fill) => isForeign(core, fill)))
  for (const fill of foreign) haltForForeign(core, fill)
  const recorded = recordFills(core, fills, { ...bound, ...waitingAmong(core, fills, foreign) })
  for (const payment of unseen) recordUnseen(core, payment)
  if (foreign.size > 0) disown(core, foreign)
  announceSystemFills(core, recorded)
  const strangers = new Set([...foreign].map(({ orderId }) => orderId))
  const owners = new Set<StrategyId>()
  for (const fill of recorded) {
    const isOfStranger = strangers.has(fill.orderId)
    const owner = logFill(core, fill, isOfStranger)
    if (owner !== undefined) owners.add(owner)
    // After a foreign fill, every strategy on the instrument may hold less.
    else if (isOfStranger) for (const id of tradersOf(core.settings, fill.symbol)) owners.add(id)
  }
  noteRecentFills(core, fills, heardAt)
  for (const symbol of new Set(fills.map((fill) => fill.symbol))) {
    if (isProofAwaited(core, symbol)) askForPositionSoon(core, symbol)
  }
  return owners
}

function recordUnseen(
  core: Core,
  { symbol, holdSide, paidAt, change: paid }: EstimatedPayment,
): void {
  const change = roundMoney(-paid).toString()
  record(core, { kind: 'unseenFunding', at: core.now, symbol, holdSide, paidAt, change })
  announce(core, 'info', 'funding.estimated', { symbol, holdSide, change, at: paidAt })
}

/**
 * A flatten that may have ended, and an exit that another strategy holds against (RSK4), need a
 * reading after the last fill.
 */
function isProofAwaited(core: Core, symbol: string): boolean {
  const account = accountHoldingOf(core.book, symbol)
  return tradersOf(core.settings, symbol).some((id) => {
    const { longLots, shortLots } = holdingOf(core.book, id, symbol)
    const isOpposed = longLots > account.longLots || shortLots > account.shortLots
    return isOpposed || isFlattening(core, symbol, id)
  })
}

/** Fills whose source proves nothing, and which an order of ours may have made. */
function waitingAmong(
  { book }: Core,
  fills: readonly Fill[],
  foreign: ReadonlySet<Fill>,
): Pick<FillsRecord, 'waiting'> {
  const waiting = fills.filter(
    (fill) =>
      fill.source !== 'API' &&
      !isOfOthers(fill) &&
      !foreign.has(fill) &&
      !book.byOrderId.has(fill.orderId),
  )
  return waiting.length > 0 ? { waiting: [...new Set(waiting.map(({ orderId }) => orderId))] } : {}
}

/** @returns the owner */
function logFill(core: Core, fill: Fill, foreign: boolean): StrategyId | undefined {
  const clientOid = core.book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
  if (order?.terms.purpose === 'quote') {
    holdQuote(core, order.terms.strategyId, fill.symbol)
  }
  if (foreign && isAnnounced(fill)) return undefined
  const { profit, fee } = fill
  const isKnown = profit !== undefined && fee !== undefined
  announce(core, foreign ? 'error' : 'info', foreign ? 'fill.foreign' : 'order.fill', {
    clientOid,
    strategy: order?.terms.strategyId,
    symbol: fill.symbol,
    side: fill.side,
    ticks: fill.ticks,
    lots: fill.lots,
    scope: fill.scope,
    net: isKnown ? profitOf(fill).minus(feeOf(fill)).toString() : undefined,
    profit: profit ?? 'unknown',
    fee: fee ?? 'unknown',
    otherFees: fill.otherFees && toFeesText(fill.otherFees),
    source: foreign ? fill.source : undefined,
    word: fill.systemWord,
    tradeId: fill.tradeId,
    orderId: fill.orderId,
    state: order?.state,
  })
  if (order?.state === 'quarantined') {
    halt(
      core,
      fill.symbol,
      'contradiction',
      `${order.terms.clientOid} was filled beyond its size: ${RELEASE_HINT}`,
    )
  }
  return order?.terms.strategyId
}

/**
 * Too many fills came while others wait, so the wait is given up: the allocation of what waits is
 * not known.
 */
function haltOnUnsettled(core: Core, fills: readonly Fill[]): void {
  for (const [symbol, of] of Map.groupBy(fills, (fill) => fill.symbol)) {
    const kept = countUnsettled(core.book, symbol)
    if (kept === 0 || kept + of.length <= UNSETTLED_MOVES_MAX) continue
    const what = `${kept} fills and more while one waits for its order: what waits is nobody's now`
    halt(core, symbol, 'contradiction', `${what}; ${RELEASE_HINT}`)
  }
}

/**
 * An order that cannot rest is over once fills are known up to the end of its matching (A2, A4).
 */
function settleTakers(core: Core, readableAt: number): void {
  for (const symbol of core.instruments.keys()) {
    if (!totalsOf(core, symbol).hasTaker || hasUnreadableRows(core, symbol)) continue
    const over: Order[] = []
    for (const order of openOrdersOf(core.book, symbol)) {
      const endedAt = acceptedBy(core, order) + core.settings.execution.matchingLagMs
      if (order.state === 'live' && !canRest(order.terms) && readableAt > endedAt) over.push(order)
    }
    if (over.length === 0) continue
    const orders = settleByEvidence(core, symbol, over, 'matched or dead')
    record(core, { kind: 'settle', at: core.now, symbol, isResolved: false, orders })
    for (const { clientOid, reason } of orders) announceEnd(core, clientOid, reason)
  }
}

/** @returns Unix ms, our clock. An earlier run's time may be wrong, but was before this run */
function acceptedBy({ run: { startedAt }, now }: Core, { acceptedAt }: Order): number {
  return acceptedAt > now ? startedAt : Math.max(acceptedAt, startedAt)
}

/** Strategies whose fills have waited, or may have, are asked to decide. */
export function settleWaitingFills(core: Core): void {
  judgeUnownedFills(core)
  if (core.readings.orphans.size === 0) return
  const owners = new Set<StrategyId>()
  for (const [orderId, { symbol }] of takeSettledOrphans(core)) {
    const clientOid = core.book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
    if (!order) {
      for (const id of tradersOf(core.settings, symbol)) owners.add(id)
      continue
    }
    const { strategyId, purpose } = order.terms
    if (purpose === 'quote') holdQuote(core, strategyId, symbol)
    owners.add(strategyId)
    announce(core, 'info', 'order.fillAttributed', {
      clientOid,
      symbol,
      orderId,
      filled: order.filledLots,
    })
  }
  askAfterFills(core, owners)
}

/** Fees are small: a price within an hour is better than none. */
const FEE_PRICE_AGE_MAX_MS = 3_600_000
/**
 * A fee above this share of what was traded is not believed, nor a profit further from our own
 * count: exchanges take less than a hundredth, and two ways of averaging differ by less.
 */
const MONEY_SHARE_MAX = 0.05
/**
 * Fills are completed by what the exchange left out and we know (MON1), and what stays unknown is
 * logged (MON2). The record holds the results, so that a restart counts the same.
 */
function recordFills(
  core: Core,
  fills: readonly Fill[],
  bound: Pick<FillsRecord, 'throughAt' | 'waiting'>,
): readonly Fill[] {
  const recorded: Fill[] = []
  let together: Fill[] = []
  const flush = (): void => {
    if (together.length > 0)
      record(core, { kind: 'fills', at: core.now, fills: together, ...bound })
    recorded.push(...together)
    together = []
  }
  for (const stated of fills) {
    const fill = atPossiblePrice(core, stated)
    // The fills before it must be in the book.
    if (fill.profit === undefined || !isProfitCredible(core, fill)) flush()
    const complete = withExit(core, withProfit(core, withFee(core, withPrices(core, fill))))
    announceUnknown(core, complete)
    together.push(complete)
  }
  flush()
  return recorded
}

/**
 * MON1: no fill is worse than the limit of its order. If the exchange says so, the worst possible
 * price is taken, since our own figure follows from it.
 */
function atPossiblePrice(core: Core, fill: Fill): Fill {
  const clientOid = core.book.byOrderId.get(fill.orderId)
  const terms = clientOid === undefined ? undefined : core.book.orders.get(clientOid)?.terms
  const limit = terms?.ticks
  if (terms === undefined || limit === undefined) return fill
  // A fill that closes a long in hedge mode is called a buy, and sells.
  if (tradesAs(terms.action) === 'buy' ? fill.ticks <= limit : fill.ticks >= limit) return fill
  const { tick } = specOf(core, fill.symbol)
  const [price, possible] = [fill.ticks, limit].map((ticks) => showOnGrid(tick, ticks))
  announceIncredible(core, fill, `price ${price}, the limit of its order ${possible}`)
  return { ...fill, ticks: limit }
}

function withExit(core: Core, fill: Fill): Fill {
  const found = core.book.byOrderId.has(fill.orderId) ? undefined : findFilledExit(core.book, fill)
  if (!found) return fill
  const { kind, clientOid, strategyId, ticks } = found
  const price = showOnGrid(specOf(core, fill.symbol).tick, ticks)
  return { ...fill, fillKind: kind, exit: { clientOid, strategyId, price } }
}

function withPrices(core: Core, fill: Fill): Fill {
  if (fill.otherFees === undefined) return fill
  const { marginCoin } = specOf(core, fill.symbol)
  const otherFees = fill.otherFees.map(({ coin, amount }): CoinFee => {
    const price = priceOf(core, coin, marginCoin)
    const worth = Math.abs(Number(amount)) * Number(price ?? 0)
    // One wrong ticker of the coin must not become a loss.
    if (price === undefined || worth > MONEY_SHARE_MAX * notionalOf(core, fill))
      return { coin, amount }
    return { coin, amount, price }
  })
  return { ...fill, otherFees }
}

/**
 * Margin coin. The last price counts as far as bid and ask allow; without a ticker the configured
 * one.
 */
function priceOf(core: Core, coin: string, marginCoin: string): string | undefined {
  const symbols = [`${coin}${marginCoin}`, ...(marginCoin === 'USDC' ? [`${coin}PERP`] : [])]
  for (const { bid, ask, last, ageMs } of symbols.map((symbol) => marketOf(core, symbol))) {
    if (bid > 0 && ask >= bid && last > 0 && ageMs <= FEE_PRICE_AGE_MAX_MS)
      return decimal(String(Math.min(ask, Math.max(bid, last)))).toString()
  }
  return core.settings.feeCoins?.get(coin)
}

function ownProfitOf(core: Core, fill: Fill): number | undefined {
  const side = closedSide(core.book, fill)
  // The document: 0 or empty when it opened.
  if (side === undefined) return 0
  const { tick, lot } = specOf(core, fill.symbol)
  const entry = core.book.entries.get(fill.symbol)
  const held = accountHoldingOf(core.book, fill.symbol)[`${side}Lots`]
  if (!entry || entry[`${side}Lots`] !== held) return undefined
  const gained = (fill.ticks - entry[`${side}Ticks`]) * (side === 'long' ? 1 : -1)
  const inQuote = gained * floatOnGrid(tick, 1) * floatOnGrid(lot, Math.min(fill.lots, held))
  return inMarginCoin(core, fill.symbol, inQuote, floatOnGrid(tick, fill.ticks))
}

/**
 * MON1: our own count judges it. System closes are booked as stated, since a liquidation costs more
 * than its price tells.
 */
function isProfitCredible(core: Core, fill: Fill): boolean {
  if (fill.profit === undefined || (fill.fillKind ?? 'trade') !== 'trade') return true
  const ours = ownProfitOf(core, fill)
  if (ours === undefined) return true
  const price = floatOnGrid(specOf(core, fill.symbol).tick, fill.ticks)
  const least = inMarginCoin(core, fill.symbol, figureSettingsOf(core).toleranceMin, price)
  const tolerance = Math.max(least, MONEY_SHARE_MAX * notionalOf(core, fill))
  return Math.abs(Number(fill.profit) - ours) <= tolerance
}

function withProfit(core: Core, fill: Fill): Fill {
  if (fill.profit !== undefined && isProfitCredible(core, fill)) return fill
  const ours = ownProfitOf(core, fill)
  if (ours === undefined) return fill
  if (fill.profit === undefined && ours === 0 && closedSide(core.book, fill) === undefined)
    return { ...fill, profit: '0' }
  const profit = roundMoney(ours).toString()
  if (fill.profit !== undefined)
    announceIncredible(core, fill, `profit ${fill.profit}, by our own count ${profit}`)
  return { ...fill, profit, isProfitOurs: true }
}

/** MON1: a fee that no exchange takes is not known. */
function withFee(core: Core, fill: Fill): Fill {
  const { fee, ...rest } = fill
  if (fee === undefined || Math.abs(Number(fee)) <= MONEY_SHARE_MAX * notionalOf(core, fill))
    return fill
  announceIncredible(core, fill, `fee ${fee}`)
  return rest
}

function announceIncredible(core: Core, { symbol, tradeId, orderId }: Fill, stated: string): void {
  announce(core, 'warn', 'fill.incredible', { symbol, tradeId, orderId, stated })
}

/** Margin coin. */
function notionalOf(core: Core, { symbol, ticks, lots }: Fill): number {
  const { tick, lot } = specOf(core, symbol)
  const price = floatOnGrid(tick, ticks)
  return inMarginCoin(core, symbol, price * floatOnGrid(lot, lots), price)
}

/** @returns undefined for a fill that only opens */
function closedSide(book: Book, { symbol, side, tradeSide }: Fill): 'long' | 'short' | undefined {
  if (book.positionMode === 'hedge_mode') {
    if (tradeSide === 'open') return undefined
    return side === 'buy' ? 'long' : 'short'
  }
  const { longLots, shortLots } = accountHoldingOf(book, symbol)
  if (side === 'sell' && longLots > 0) return 'long'
  return side === 'buy' && shortLots > 0 ? 'short' : undefined
}

/** Logs the first amount of each uncounted coin, and every fill without fee or profit. */
function announceUnknown(core: Core, fill: Fill): void {
  const { symbol, tradeId, orderId, otherFees = [] } = fill
  const missing = [
    ...(fill.fee === undefined ? ['fee'] : []),
    ...(fill.profit === undefined ? ['profit'] : []),
  ]
  if (missing.length > 0)
    announce(core, 'warn', 'fill.incomplete', { symbol, tradeId, orderId, missing })
  const unpriced = otherFees.filter(({ price }) => price === undefined)
  if (unpriced.length === 0) return
  const known = uncountedOf(sumMoney(moneyOf(core.book).values()))?.coins ?? {}
  for (const { coin, amount } of unpriced) {
    if (coin in known) continue
    announce(core, 'warn', 'fees.uncounted', {
      coin,
      amount,
      symbol,
      tradeId,
      setting: 'account.feeCoins',
    })
  }
}
