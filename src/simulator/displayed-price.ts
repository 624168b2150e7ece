import { type CoreState } from './core/core-state.ts'
import { priceText } from './core/instruments.ts'
import { type DisplayedPrice } from './account-service.ts'

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
