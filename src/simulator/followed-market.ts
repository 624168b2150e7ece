import { type FollowedMarket } from './services/service-ports.ts'
import { type CoreState } from './futures/core-state.ts'

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
