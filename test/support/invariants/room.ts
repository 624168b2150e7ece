import { type QuoteLevel } from '../../../src/domain/intent.ts'
import { openLots, type Order, tradesAs } from '../../../src/domain/order.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { type Book, holdingOf } from '../../../src/engine/book/book.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type StrategyLimits } from '../../../src/risk/risk-context.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'

/** Inputs of the risk checks, except the wish itself. */
export interface RiskFacts {
  readonly settings: EngineSettings
  readonly book: Book
  readonly tickers: TickerTable
}

/** Prices move between approval and look. */
const PRICE_TOLERANCE = 0.002
/** The strategies' own limits leave less room. */
export const GROSS_NEVER_REACHED = 5_000_000

/** Every limit has room for the rung alone, beside all that is held, rests or is unknown. */
export function hasRoom(
  facts: RiskFacts,
  strategyId: string,
  symbol: string,
  level: QuoteLevel,
): boolean {
  const { settings, book } = facts
  const limits = limitsOf(facts, strategyId, symbol)
  // If a limit of the account is reachable, other holdings decide.
  const { grossNotionalMax, leverageMax } = settings.limits
  if (!limits || grossNotionalMax < GROSS_NEVER_REACHED || leverageMax !== undefined) return false
  // With moves to survive, a separate checker recounts each denial.
  if (settings.survives !== undefined) return false
  // If limits restrict sends, it depends on what has left.
  if (limits.ordersPerMinute !== undefined || settings.limits.selfTrade === 'deny') return false
  const orders = [...(book.open.get(symbol)?.values() ?? [])]
  // Nothing is placed before this is known.
  if (book.cancels.has(symbol) || orders.some(({ state }) => state === 'unknown')) return false
  const own = orders.filter(({ terms }) => terms.strategyId === strategyId)
  const all = [...book.open.values()].reduce((sum, open) => sum + open.size, 0)
  const isAllowed = level.lots >= 1 && level.lots <= limits.orderSizeMax
  const hasPlace = own.length < limits.openOrdersMax && all < settings.limits.openOrdersMax
  return (
    isAllowed &&
    hasPlace &&
    isPriced(facts, symbol, level) &&
    hasRoomFor(
      facts,
      { symbol, level, limits },
      worstLots(facts, { strategyId, symbol, own }, level.side),
    )
  )
}

/** Limits by size and by value. */
function hasRoomFor(
  { settings, tickers }: RiskFacts,
  {
    symbol,
    level,
    limits,
  }: { readonly symbol: string; readonly level: QuoteLevel; readonly limits: StrategyLimits },
  lots: number,
): boolean {
  const worst = lots + level.lots
  const { positionMax, positionNotionalMax = Number.POSITIVE_INFINITY } = limits
  const instrument = settings.instruments.get(symbol)
  if (worst > positionMax || !instrument) return false
  const prices = [tickers.read(symbol, 'askPr'), tickers.read(symbol, 'lastPr') || 0]
  const price = Math.max(...prices, floatOnGrid(instrument.tick, level.ticks))
  return (
    worst * floatOnGrid(instrument.lot, 1) * price * (1 + PRICE_TOLERANCE) <= positionNotionalMax
  )
}

/** The same for a market order, which takes and must differ from all nameless orders. */
export function hasRoomToTake(
  facts: RiskFacts,
  strategyId: string,
  symbol: string,
  { side, lots }: Pick<QuoteLevel, 'side' | 'lots'>,
): boolean {
  const instrument = facts.settings.instruments.get(symbol)
  const orders = [...(facts.book.open.get(symbol)?.values() ?? [])]
  if (!instrument || orders.some(({ orderId }) => orderId === undefined)) return false
  const price = facts.tickers.read(symbol, side === 'buy' ? 'askPr' : 'bidPr')
  const ticks = Math.round((price * instrument.tick.scale) / instrument.tick.units)
  return hasRoom(facts, strategyId, symbol, { side, ticks, lots })
}

/** A larger amount leaves in parts. */
export function orderLotsMax(facts: RiskFacts, strategyId: string, symbol: string): number {
  return limitsOf(facts, strategyId, symbol)?.orderSizeMax ?? 0
}

function limitsOf(
  { settings }: RiskFacts,
  strategyId: string,
  symbol: string,
): StrategyLimits | undefined {
  return [...settings.strategies.values()].find(({ id }) => id === strategyId)?.limits.get(symbol)
}

function isPriced(
  { settings, tickers }: RiskFacts,
  symbol: string,
  { ticks, lots }: QuoteLevel,
): boolean {
  const instrument = settings.instruments.get(symbol)
  if (!instrument) return false
  const price = floatOnGrid(instrument.tick, ticks)
  const notional = price * floatOnGrid(instrument.lot, lots)
  const { orderNotionalMax, priceCollarRatio } = settings.limits
  const collar = priceCollarRatio - PRICE_TOLERANCE
  return (
    lots >= instrument.lotsMin &&
    notional * (1 + PRICE_TOLERANCE) <= orderNotionalMax &&
    notional * (1 - PRICE_TOLERANCE) >= Number(instrument.notionalMin.toString()) &&
    price >= tickers.read(symbol, 'bidPr') * (1 - collar) &&
    price <= tickers.read(symbol, 'askPr') * (1 + collar)
  )
}

interface Own {
  readonly strategyId: string
  readonly symbol: string
  readonly own: readonly Order[]
}

/** Worst position of the strategy on that side; in hedge mode with all opening orders. */
function worstLots(
  { book }: RiskFacts,
  { strategyId, symbol, own }: Own,
  side: 'buy' | 'sell',
): number {
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  const isOneWay = book.positionMode === 'one_way_mode'
  const opening = side === 'buy' ? 'openLong' : 'openShort'
  let lots = side === 'buy' ? longLots : shortLots
  if (isOneWay) lots -= side === 'buy' ? shortLots : longLots
  for (const order of own) {
    const adds = isOneWay ? tradesAs(order.terms.action) === side : order.terms.action === opening
    if (adds) lots += openLots(order)
  }
  return lots
}
