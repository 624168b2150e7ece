import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { type DisplayedPrice } from '../account-service.ts'
import { larger, roundDown } from './amounts.ts'
import { putMarket } from './margin-rows.ts'
import { type MarginState, type SymbolMarket } from './margin-state.ts'

/**
 * Looks at the prices again. A price that moved, or that orders took from and that has stood for
 * `displayRefreshMs`, shows its whole depth anew.
 *
 * @returns the symbols whose orders have to be looked at again
 */
export function refreshPrices(state: MarginState): ReadonlySet<string> {
  const changed = new Set<string>()
  for (const [symbol, market] of state.symbols) {
    const price = state.ports.prices(symbol)
    if (price === undefined) continue
    const isMoved = !isShown(market, price)
    const isStale =
      (market.taken.buy.gt(ZERO) || market.taken.sell.gt(ZERO)) &&
      state.clock.now - market.takenAt >= state.settings.displayRefreshMs
    if (!isMoved && !isStale) continue
    showPrice(state, market, price)
    changed.add(symbol)
  }
  return changed
}

export function showPrice(state: MarginState, market: SymbolMarket, price: DisplayedPrice): void {
  const hadTaken = market.taken.buy.gt(ZERO) || market.taken.sell.gt(ZERO)
  market.shown = { bid: decimal(price.bid), ask: decimal(price.ask), texts: { ...price } }
  market.takenAt = 0
  market.taken = { buy: ZERO, sell: ZERO }
  if (hadTaken) putMarket(state, market)
}

/** What a buy or a sell can still take of the levels from the displayed one to `level` (0 is the displayed one). */
export function depthAt(
  state: MarginState,
  market: SymbolMarket,
  side: { readonly direction: 'buy' | 'sell'; readonly level: number },
): Decimal {
  const price = levelPrice(market, { direction: side.direction, level: 0 })
  if (price === undefined) return ZERO
  const each = roundDown(decimal(state.settings.displayedNotional).div(price), market.rules.quantityPlaces)
  return larger(ZERO, each.times(decimal(String(side.level + 1))).minus(market.taken[side.direction]))
}

/** The price of a level: each is a tick worse than the one before; never below a tick. */
export function levelPrice(
  { shown, rules }: SymbolMarket,
  { direction, level }: { readonly direction: 'buy' | 'sell'; readonly level: number },
): Decimal | undefined {
  if (shown === undefined) return undefined
  const away = rules.tick.times(decimal(String(level)))
  return direction === 'buy' ? shown.ask.plus(away) : larger(rules.tick, shown.bid.minus(away))
}

export function take(
  state: MarginState,
  market: SymbolMarket,
  { direction, base }: { readonly direction: 'buy' | 'sell'; readonly base: Decimal },
): void {
  if (market.takenAt === 0) market.takenAt = state.clock.now
  market.taken = { ...market.taken, [direction]: market.taken[direction].plus(base) }
  putMarket(state, market)
}

function isShown({ shown }: SymbolMarket, { bid, ask }: DisplayedPrice): boolean {
  return shown !== undefined && shown.texts.bid === bid && shown.texts.ask === ask
}
