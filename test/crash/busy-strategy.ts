import { defineStrategy, type InstrumentView, positiveDecimal, z } from 'intentd/strategy'

/** Trades all the time and in every way there is, so that a crash at any moment finds something in flight. */
const paramsSchema = z.strictObject({
  size: positiveDecimal('Size of each order, in the base coin.'),
})

export default defineStrategy({
  name: 'busy',
  params: paramsSchema,
  initialState: () => ({ turn: 0 }),

  decide(snapshot, { params, state }) {
    const turn = state.turn + 1
    const intents = snapshot.instruments.flatMap((market) => {
      if (!market.hasPrices) return []
      const lots = market.lots(params.size)
      const target = market.target(turn % 10 < 5 ? lots : -lots)
      return turn % 4 === 0 ? [target, placeBeside(market, { turn, lots })] : [target]
    })
    return { intents, state: { turn } }
  },
})

/** By turns one that takes, and one that rests for a while before it is filled or cancelled. */
function placeBeside(
  market: InstrumentView,
  { turn, lots }: { readonly turn: number; readonly lots: number },
) {
  const key = `${market.symbol}:${turn}`
  if (turn % 8 === 0) {
    return market.place({
      key,
      action: 'openLong',
      lots,
      ticks: market.askTicks,
      force: 'ioc',
      ttlMs: 1000,
    })
  }
  const ticks = market.askTicks + Math.ceil(market.askTicks / 2000)
  return market.place({ key, action: 'openShort', lots, ticks, force: 'gtc', ttlMs: 1000 })
}
