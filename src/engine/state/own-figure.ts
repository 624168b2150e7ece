import { showCoin, toCoinText } from '../../domain/coin-amount.ts'
import { isInverse } from '../../domain/instrument.ts'
import type { Entry } from '../../domain/own-trades.ts'
import { type Holding, isFlat, isSameHolding } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { accountHoldingOf, holdingOf, pairOf } from '../book/book.ts'
import { type Core, specOf } from './core.ts'
import { figureSettingsOf } from './disputes.ts'
import { marketOf } from './market-state.ts'
import { positionSilenceMs } from './readings.ts'
import type { PositionStatement } from '../../domain/loss-limits.ts'

/** A price from one answer of the tickers. */
export interface OwnPrice {
  /** The last price, held inside bid and ask; NaN without fresh and possible prices. */
  readonly price: number
  /** Exchange clock. */
  readonly answeredAt: number
  /** Last price, bid, ask and index are close to each other. */
  readonly isInBand: boolean
}

export function ownPriceOf(core: Core, symbol: string): OwnPrice {
  const { bid, ask, last, ageMs } = marketOf(core, symbol)
  const answeredAt = core.market.tickers?.requestTime ?? 0
  const isPossible =
    bid > 0 && ask >= bid && last > 0 && Number.isFinite(ask) && Number.isFinite(last)
  if (!isPossible || ageMs > core.settings.limits.dataAgeMaxMs) {
    return { price: Number.NaN, answeredAt, isInBand: false }
  }
  const price = Math.min(Math.max(last, bid), ask)
  const band = figureSettingsOf(core).indexBandRatio
  const isClose = (other: number): boolean => Math.abs(other - price) <= price * band
  const index = core.market.tickers?.read(symbol, 'indexPrice') ?? Number.NaN
  // Without an index, bid and ask judge.
  const isNearIndex = !(index > 0) || isClose(index)
  const isInBand = isClose(last) && isClose(bid) && isClose(ask) && isNearIndex
  return { price, answeredAt, isInBand }
}

/** A mark that differs by more than this share of our price is not the price of another moment. */
const MARK_APART = 0.02

/**
 * The exchange's mark, or ours where two witnesses are against it: far from our price, while last
 * price, bid, ask and index agree and the exchange states the profit that our price gives.
 */
export function possibleMark(
  core: Core,
  symbol: string,
  mark: number,
  { price, isInBand } = ownPriceOf(core, symbol),
): number {
  if (!(mark > 0)) return price
  const isApart = Math.abs(mark - price) > MARK_APART * price
  const isProfitAgreed = core.losses.worths.get(symbol)?.trust === 'agreed'
  return isApart && isInBand && isProfitAgreed ? price : mark
}

export function unrealisedOfAccount(core: Core, symbol: string, price: number): number {
  const held = accountHoldingOf(core.book, symbol)
  return valueAt(core, symbol, { held, entry: core.book.entries.get(symbol), price })
}

export function unrealisedOfStrategy(
  core: Core,
  id: string,
  symbol: string,
  price: number,
): number {
  const held = holdingOf(core.book, id, symbol)
  return valueAt(core, symbol, {
    held,
    entry: core.book.ownTrades.get(pairOf(id, symbol))?.entry,
    price,
  })
}

/** At the last prices; undefined where a part is not known. */
export function unrealisedOfWholeStrategy(core: Core, strategyId: string): number | undefined {
  const strategy = [...core.settings.strategies.values()].find(({ id }) => id === strategyId)
  if (!strategy) return undefined
  let sum = 0
  for (const symbol of strategy.symbols) {
    sum += unrealisedOfStrategy(core, strategy.id, symbol, ownPriceOf(core, symbol).price)
  }
  return Number.isNaN(sum) ? undefined : sum
}

/** Both sides together, margin coin. */
export function notionalAt(
  core: Core,
  symbol: string,
  { held, price }: { readonly held: Holding; readonly price: number },
): number {
  const spec = specOf(core, symbol)
  const size = floatOnGrid(spec.lot, held.longLots + held.shortLots)
  return isInverse(spec) ? size : size * price
}

export function inMarginCoin(core: Core, symbol: string, amount: number, price: number): number {
  return isInverse(specOf(core, symbol)) ? amount / price : amount
}

export function toAmountText({ settings }: Pick<Core, 'settings'>, amount: number): string {
  return toCoinText(amount, marginCoinOf(settings))
}

export function showAmount({ settings }: Pick<Core, 'settings'>, amount: number): string {
  return showCoin(amount, marginCoinOf(settings))
}

export function marginCoinOf({ instruments }: Pick<Core['settings'], 'instruments'>): string {
  const [instrument] = instruments.values()
  return instrument?.marginCoin ?? ''
}

interface ValuedHolding {
  readonly held: Holding
  readonly entry: Entry | undefined
  readonly price: number
}

function valueAt(core: Core, symbol: string, { held, entry, price }: ValuedHolding): number {
  if (isFlat(held)) return 0
  const { longLots, shortLots } = held
  if (!entry || entry.longLots < longLots || entry.shortLots < shortLots || !(price > 0))
    return Number.NaN
  const { tick, lot } = specOf(core, symbol)
  const long = (price - floatOnGrid(tick, entry.longTicks)) * floatOnGrid(lot, longLots)
  const short = (floatOnGrid(tick, entry.shortTicks) - price) * floatOnGrid(lot, shortLots)
  return inMarginCoin(core, symbol, (longLots > 0 ? long : 0) + (shortLots > 0 ? short : 0), price)
}

/** The exchange's statement, if it was about what the book holds. */
export function comparableStatement(
  { losses, book }: Core,
  symbol: string,
): PositionStatement | undefined {
  const statement = losses.statements.get(symbol)
  return statement && isSameHolding(statement, accountHoldingOf(book, symbol))
    ? statement
    : undefined
}

/** No reading that fits the book has come for so long that what it stated is not known any more. */
export function isPositionUnread(core: Core, symbol: string): boolean {
  return positionSilenceMs(core, symbol) > core.settings.limits.accountAgeMaxMs
}

/** A reading confirms a later one for so many times the maximum age of readings. */
const CONFIRMED_WITHIN_AGES = 10

export function confirmedWithinMs({ settings }: Core): number {
  return CONFIRMED_WITHIN_AGES * settings.limits.accountAgeMaxMs
}
