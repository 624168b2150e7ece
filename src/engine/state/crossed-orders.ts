import { canRest, type Order } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { openOrdersOf } from '../book/book.ts'
import { type Core, specOf } from './core.ts'
import { type InstrumentState } from './instrument-state.ts'
import { marketOf } from './market-view.ts'

/** Resting orders that the market stands beyond: they must have been filled, whether or not we know it yet. */
export function crossedOrders(core: Core, instrument: InstrumentState): readonly Order[] {
  const { bid, ask, ageMs } = marketOf(core, instrument.symbol)
  if (!(bid > 0 && ask > 0) || ageMs > core.settings.limits.dataAgeMaxMs) return []
  const { tick } = specOf(core, instrument.symbol)
  return [...openOrdersOf(core.book, instrument.symbol)].filter(({ state, terms }) => {
    if (state !== 'live' || terms.ticks === undefined || !canRest(terms)) return false
    const price = (terms.ticks * tick.units) / tick.scale
    return tradesAs(terms.action) === 'buy' ? price > ask : price < bid
  })
}
