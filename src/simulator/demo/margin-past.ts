import { createRandom } from '../../lib/random.ts'
import { type MarginState } from '../margin/margin-state.ts'
import { liveLiquidations } from './margin-liquidations.ts'
import { placeMarginOrders } from './margin-orders.ts'

/** Turns the clock back, lives what was before, and displays nothing made up any more. Nobody owes anything yet. */
export function writeMarginPast(state: MarginState): void {
  const prices = new Map<string, number>()
  for (const [symbol, pair] of state.pairs) {
    pair.refresh()
    if (pair.market.at > 0) prices.set(symbol, Number(pair.lastPrice().toString()))
  }
  if (prices.size === 0) return
  const { seed, startAt, accounts } = state.ports
  liveLiquidations(state, prices, createRandom(seed).fork('margin past'))
  for (const { uid } of accounts) placeMarginOrders(state, uid, prices)
  for (const pair of state.pairs.values()) pair.clear()
  state.clock.now = startAt
}
