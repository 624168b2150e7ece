import { defineStrategy, type InstrumentView, z } from 'intentd/strategy'

/**
 * Holds each instrument at a fixed share of the account's equity: sells part of what has risen,
 * buys more of what has fallen. Within the band it does nothing, as each correction costs a fee.
 *
 * Equity is that of the whole account. It is undefined until every position has been read once;
 * before that nothing is decided.
 */
const paramsSchema = z.strictObject({
  shares: z.record(z.string(), z.number().min(-5).max(5)).meta({
    description: 'Of equity, by symbol: 0.3 is 30 % long, -0.3 is 30 % short.',
  }),
  band: z
    .number()
    .min(0.001)
    .max(1)
    .default(0.02)
    .meta({ description: 'Traded when further off than this share of equity.' }),
})

export default defineStrategy({
  name: 'rebalance',
  params: paramsSchema,
  needs: { candles: { '1m': 1 } },
  decides: 'candle',
  initialState: () => ({}),

  check({ shares }, instruments) {
    const symbols = instruments.map(({ symbol }) => symbol)
    return [
      ...symbols
        .filter((symbol) => shares[symbol] === undefined)
        .map((symbol) => `shares has no share for ${symbol}`),
      ...Object.keys(shares)
        .filter((symbol) => !symbols.includes(symbol))
        .map((symbol) => `shares names ${symbol}, which is no instrument of it`),
    ]
  },

  decide(snapshot, { params, state }) {
    const { equity } = snapshot.account
    if (equity === undefined || equity <= 0) return { intents: [], state }
    const intents = snapshot.instruments.flatMap((market) => {
      const share = params.shares[market.symbol]
      if (share === undefined || !market.hasPrices) return []
      const isWithin = Math.abs(shareHeld(market, equity) - share) <= params.band
      return isWithin ? [] : [market.target(lotsFor(market, share * equity))]
    })
    return { intents, state }
  },
})

function shareHeld(market: InstrumentView, equity: number): number {
  return (Math.sign(market.netLots) * market.size(Math.abs(market.netLots)) * market.mid) / equity
}

/** Lots are rounded towards zero. `value` is in the quote coin. */
function lotsFor(market: InstrumentView, value: number): number {
  return Math.sign(value) * market.lotsBelow(Math.abs(value) / market.mid)
}
