// The strategy of bench/tick-to-order.ts: fifty orders around every new price, each good for this price only.

import { defineStrategy, z } from 'intentd/strategy'

export default defineStrategy({
  name: 'quoting',
  params: z.strictObject({
    orders: z.int().min(1).max(50),
    force: z.enum(['post_only', 'gtc']).default('post_only'),
  }),
  initialState: () => ({ priceTicks: 0, round: 0 }),
  decide(snapshot, { params, state }) {
    const [market] = snapshot.instruments
    if (!market?.hasPrices || market.bidTicks === state.priceTicks) return { intents: [], state }
    const round = state.round + 1
    const intents = Array.from({ length: params.orders }, (_, rung) => ({
      kind: 'place' as const,
      symbol: market.symbol,
      key: `${round}:${rung}`,
      action: 'openLong' as const,
      lots: market.lotsMin,
      ticks: market.bidTicks - rung,
      force: params.force,
    }))
    return { intents, state: { priceTicks: market.bidTicks, round } }
  },
})
