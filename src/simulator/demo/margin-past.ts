import { createRandom } from '../../lib/random.ts'
import { type MarginState } from '../margin/margin-state.ts'
import { liveLiquidations } from './margin-liquidations.ts'
import { placeMarginOrders } from './margin-orders.ts'

/** Turns the clock back, lives what was before, and displays nothing made up any more. Nobody owes anything yet. */
export function writeMarginPast(state: MarginState): void {
  const prices = new Map<string, number>()
  for (const [symbol, { book }] of state.symbols) {
    book.refresh()
    const { at, lastTicks } = book.market
    if (at > 0) prices.set(symbol, Number(book.price(lastTicks).toString()))
  }
  if (prices.size === 0) return
  const { seed, startAt, accounts } = state.ports
  liveLiquidations(state, prices, createRandom(seed).fork('margin past'))
  for (const { uid } of accounts) placeMarginOrders(state, uid, prices)
  for (const { book } of state.symbols.values()) book.clear()
  state.clock.now = startAt
}
