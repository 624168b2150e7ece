import type { ContractRules } from '../../domain/contract-rules.ts'
import type { FeedId, FeedReading } from '../../domain/feed.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import type { PositionReading } from '../../domain/position.ts'
import type { SeenMarket } from '../../domain/seen-market.ts'
import { DELIVERY_STATES, isOvertaken, type TickerTable } from '../../domain/ticker-table.ts'
import { mutable } from '../../lib/mutable.ts'
import { believeContracts } from '../../market/believe-contracts.ts'
import type { RiskMarket } from '../../risk/risk-context.ts'
import { openOrdersOf } from '../book/book.ts'
import { beginMoment } from './changes.ts'
import { totalsOf } from './totals.ts'
import { announce, type Core, specOf } from './core.ts'

/** False for an older answer, or the last one again: strategies decide once on one moment. */
export function noteTickers(core: Core, tickers: TickerTable): boolean {
  const known = core.market.tickers
  const isRepeated = known?.requestTime === tickers.requestTime && known.readAt === tickers.readAt
  if (isRepeated || isOvertaken(tickers, known, exchangeNow(core))) return false
  mutable(core.market).tickers = tickers
  return true
}

export function nextSnapshot({ market, changes }: Core): void {
  mutable(market).snapshots += 1
  beginMoment(changes)
}

export function noteFeed({ market }: Core, feed: FeedId, reading: FeedReading): void {
  mutable(market).feeds.set(feed, reading)
}

/** The rules that the journal has of members count as an earlier answer. */
export function noteContracts(
  { market, book }: Core,
  contracts: ReadonlyMap<string, ContractRules>,
): void {
  const members = [...book.universes.values()].flatMap((kept) => Object.entries(kept.members))
  const kept = new Map(members.map(([symbol, { rules }]) => [symbol, rules]))
  const before = market.contracts ?? { heard: kept, believed: kept }
  mutable(market).contracts = believeContracts(before, new Map(contracts))
}

export function forgetMark({ market }: Core, symbol: string): void {
  mutable(market.marks).delete(symbol)
}

export function noteMark({ market }: Core, { symbol, rows, requestedAt }: PositionReading): void {
  const margin = rows.reduce((sum, row) => sum + (row.margin ?? Number.NaN), 0)
  const markPrice = rows[0]?.markPrice ?? Number.NaN
  const unrealised = rows.length === 0 ? 0 : (market.marks.get(symbol)?.unrealised ?? Number.NaN)
  mutable(market).marks.set(symbol, { markPrice, unrealised, margin, readAt: requestedAt })
}

export function noteUnrealised({ market }: Core, symbol: string, unrealised: number): void {
  const mark = market.marks.get(symbol)
  if (mark !== undefined && mark.unrealised !== unrealised)
    mutable(market).marks.set(symbol, { ...mark, unrealised })
}

/** All prices are NaN if the tickers have no row of the symbol. */
export function marketOf(core: Core, symbol: string): RiskMarket {
  const { tickers } = core.market
  const row = tickers?.rowOf(symbol) ?? -1
  if (!tickers || row < 0) return NO_MARKET
  const { bidPr, askPr, lastPr, deliveryStatus } = tickers.columns
  return {
    bid: bidPr[row] ?? Number.NaN,
    ask: askPr[row] ?? Number.NaN,
    last: lastPr[row] ?? Number.NaN,
    ageMs: ageOf(core, tickers, row),
    deliveryState: DELIVERY_STATES[deliveryStatus[row] ?? Number.NaN],
  }
}

const NO_MARKET: RiskMarket = {
  bid: Number.NaN,
  ask: Number.NaN,
  last: Number.NaN,
  ageMs: Number.POSITIVE_INFINITY,
  deliveryState: undefined,
}

/** The age of the answer or of the row, whichever is older. */
function ageOf(core: Core, { columns, readAt }: TickerTable, row: number): number {
  const rowAgeMs = exchangeNow(core) - (columns.ts[row] ?? Number.NaN)
  return Math.max(core.now - readAt, Number.isNaN(rowAgeMs) ? Number.POSITIVE_INFINITY : rowAgeMs)
}

/** An order decided on the present prices may be sent until then (MKT1); Unix ms, our clock. */
export function freshUntil(core: Core, symbol: string): number {
  const { tickers } = core.market
  const row = tickers?.rowOf(symbol) ?? -1
  const ageMs = tickers && row >= 0 ? ageOf(core, tickers, row) : Number.POSITIVE_INFINITY
  return Number.isFinite(ageMs) ? core.now + core.settings.limits.dataAgeMaxMs - ageMs : 0
}

/** For records: a missing number is 0. */
export function seenMarketOf(core: Core, symbol: string): SeenMarket {
  const { bid, ask, ageMs } = marketOf(core, symbol)
  const orZero = (value: number): number => (Number.isFinite(value) ? value : 0)
  return { bid: orZero(bid), ask: orZero(ask), ageMs: orZero(ageMs) }
}

/** The market is beyond one of our resting orders. */
export function isBeyondOrder(core: Core, symbol: string): boolean {
  const { tickers } = core.market
  const row = tickers?.rowOf(symbol) ?? -1
  if (!tickers || row < 0) return false
  const { bidPr, askPr } = tickers.columns
  const [bid = Number.NaN, ask = Number.NaN] = [bidPr[row], askPr[row]]
  const { buyTicks, sellTicks } = totalsOf(core, symbol)
  const { units, scale } = specOf(core, symbol).tick
  return (
    bid > 0 && ask > 0 && ((buyTicks * units) / scale > ask || (sellTicks * units) / scale < bid)
  )
}

/** Resting orders that must have been filled, because the market is beyond them. */
export function crossedOrders(core: Core, symbol: string): readonly Order[] {
  if (!isBeyondOrder(core, symbol)) return NO_ORDERS
  const { bid, ask, ageMs } = marketOf(core, symbol)
  if (ageMs > core.settings.limits.dataAgeMaxMs) return NO_ORDERS
  const { tick } = specOf(core, symbol)
  return [...openOrdersOf(core.book, symbol)].filter(({ state, terms }) => {
    if (state !== 'live' || terms.ticks === undefined || !canRest(terms)) return false
    const price = (terms.ticks * tick.units) / tick.scale
    return tradesAs(terms.action) === 'buy' ? price > ask : price < bid
  })
}

const NO_ORDERS: readonly Order[] = []

/** A measurement of the clock counts for so long. */
const MEASURED_WITHIN_MS = 60_000
/** The pause after a batch that was refused for its time doubles up to the maximum. */
const REFUSED_MS = 1000
const REFUSED_MS_MAX = 60_000

/** Unix ms: the time of the exchange as we know it. */
export function exchangeNow(core: Core): number {
  return core.now + (core.clock.offsetMs ?? 0)
}

/**
 * The latest time that the exchange's clock can have shown at an instant of ours, mostly the start.
 * Its clock may have been set since, or have been measured wrongly then, and what is taken to be of
 * before the start is only treated with more care.
 */
export function latestExchangeTime({ clock }: Pick<Core, 'clock'>, at: number): number {
  const { offsetMs = 0, firstOffsetMs = offsetMs } = clock
  return at + Math.max(offsetMs, firstOffsetMs)
}

/**
 * Why no order may leave (docs/mechanisms.md, Clocks). Cancel-alls and readings go on: late ones do
 * no harm, and readings measure the clock again.
 */
export function clockUnsynchronised({ clock, now }: Core): string | undefined {
  if (clock.unsynchronised !== undefined) return clock.unsynchronised
  if (now < clock.refusedUntil) {
    const restS = Math.ceil((clock.refusedUntil - now) / 1000)
    return `the exchange refuses the time of orders (${clock.refused}), ${clock.refusals} in a row; the next one leaves in ${restS} s`
  }
  if (clock.offsetMs === undefined) return "the exchange's clock was never measured"
  if (clock.synchronisedAt === 0) return 'no signed answer has told the time of the exchange yet'
  const ageMs = now - clock.synchronisedAt
  return ageMs <= MEASURED_WITHIN_MS
    ? undefined
    : `the exchange's clock was measured ${ageMs} ms ago`
}

export function noteClockMeasured(core: Core, offsetMs: number): void {
  const clock = mutable(core.clock)
  if (clock.synchronisedAt === 0) clock.firstOffsetMs = offsetMs
  clock.offsetMs = offsetMs
}

/** Called when two signed answers agree. */
export function noteClockSynchronised(core: Core, offsetMs: number): void {
  const clock = mutable(core.clock)
  if (clock.unsynchronised !== undefined) {
    announce(core, 'info', 'clock.synchronised', { offsetMs, was: clock.offsetMs })
  }
  if (clock.synchronisedAt === 0) clock.firstOffsetMs = offsetMs
  clock.offsetMs = offsetMs
  clock.synchronisedAt = core.now
  clock.unsynchronised = undefined
}

/** The queued orders would be refused again, so the next batch waits, longer each time. */
export function noteBatchClockRefused(core: Core, code: string): void {
  const clock = mutable(core.clock)
  clock.refusals += 1
  clock.refused = code
  clock.refusedUntil = core.now + Math.min(REFUSED_MS_MAX, REFUSED_MS * 2 ** (clock.refusals - 1))
}

export function noteBatchClockAccepted({ clock }: Core): void {
  if (clock.refusals > 0) mutable(clock).refusals = 0
}

export function noteClockUnsynchronised(core: Core, reason: string): void {
  const clock = mutable(core.clock)
  // No order leaves before the first measurement anyway.
  if (clock.offsetMs === undefined) return
  if (clock.unsynchronised === undefined) announce(core, 'warn', 'clock.unsynchronised', { reason })
  clock.unsynchronised = reason
}
