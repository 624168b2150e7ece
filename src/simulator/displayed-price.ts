import { type DisplayedPrice, type FollowedMarket } from './account-service.ts'
import { type CoreState } from './core/core-state.ts'
import { priceText } from './core/instruments.ts'

/** What the futures market of a symbol displays; undefined where there is none, or it has no quote yet. */
export function displayedPrice(state: CoreState, symbol: string): DisplayedPrice | undefined {
  const found = state.symbols.get(symbol)
  if (found === undefined || found.market.at === 0) return undefined
  const { instrument, market } = found
  const { bidTicks, askTicks, lastTicks } = market
  return {
    bid: priceText(instrument, bidTicks),
    ask: priceText(instrument, askTicks),
    last: priceText(instrument, lastTicks),
  }
}

/** The futures market of a symbol, to be followed by an account service. */
export function followedMarket(state: CoreState, symbol: string): FollowedMarket | undefined {
  const found = state.symbols.get(symbol)
  if (found === undefined) return undefined
  const { instrument, market, followers } = found
  return {
    tickSize: instrument.priceGrid.step,
    lotSize: instrument.sizeGrid.step,
    shown: market,
    follow: (hear) => void followers.push(hear),
  }
}
