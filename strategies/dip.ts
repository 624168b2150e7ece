import { defineStrategy, type InstrumentView, rsi, z } from 'intentd/strategy'

/**
 * Buys when the relative strength index of closed candles is low, and leaves the exits to the
 * `exits:` of its settings: stop, trailing stop, a table of profit by time held. It sells itself
 * only when the index is high.
 *
 *     index at or below buyBelow    if nothing is held: the size that loses `riskShare` of the equity at the stop
 *     between                       what is held
 *     index at or above sellAbove   nothing
 *
 * Between the two it wants what it holds, so that after an exit it wants nothing.
 */
const paramsSchema = z
  .strictObject({
    interval: z.enum(['1m', '5m', '15m', '1h']).default('5m').meta({
      description: 'Length of the candles.',
    }),
    period: z.int().min(2).max(50).default(14).meta({ description: 'Candles of the index.' }),
    buyBelow: z.number().min(1).max(50).default(30).meta({ description: 'The index that buys.' }),
    sellAbove: z.number().min(50).max(99).default(70).meta({
      description: 'The index that sells.',
    }),
    riskShare: z.number().min(0.0001).max(0.1).default(0.005).meta({
      description: 'Share of the equity that a trade loses at the stop.',
    }),
    stopDistance: z.number().min(0.001).max(0.5).default(0.02).meta({
      description: 'The distance of exits.stop, as a share of the price.',
    }),
    lotsMax: z
      .int()
      .min(1)
      .default(1_000_000)
      .meta({ description: 'Most lots, whatever the equity.' }),
  })
  .prefault({})

export default defineStrategy({
  name: 'dip',
  params: paramsSchema,
  needs: ({ interval, period }) => ({ indicators: { strength: rsi({ interval, period }) } }),
  decides: 'candle',
  initialState: () => ({}),

  decide(snapshot, { params, state }) {
    const intents = snapshot.instruments.flatMap((market) => {
      const { strength } = market.indicators
      if (!market.hasPrices || strength === undefined) return []
      if (strength >= params.sellAbove) return [market.target(0)]
      const isToBuy = strength <= params.buyBelow && market.netLots === 0
      return [market.target(isToBuy ? sizeOf(market, params) : market.netLots)]
    })
    return { intents, state }
  },
})

function sizeOf(
  market: Pick<InstrumentView, 'mid' | 'lotsForRisk'>,
  { riskShare, stopDistance, lotsMax }: z.infer<typeof paramsSchema>,
): number {
  const lots = market.lotsForRisk({ share: riskShare, distance: market.mid * stopDistance })
  return Math.min(lots, lotsMax)
}
