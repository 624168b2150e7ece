import {
  atr,
  defineStrategy,
  donchian,
  type InstrumentView,
  positiveDecimal,
  z,
} from 'intentd/strategy'

/**
 * Buys when the price leaves its channel upwards, sells short when it leaves it downwards. The
 * channel is the highest high and the lowest low of the last closed candles (Donchian).
 *
 * The exchange keeps both exits, so they hold while the daemon is down: a stop-loss some average
 * true ranges (ATR) from the entry, a take-profit further away. There is at most one entry a
 * candle, and none while a position is held.
 */
const paramsSchema = z.strictObject({
  interval: z.string().default('15m').meta({ description: 'Length of a candle.' }),
  period: z.int().min(2).max(300).default(20).meta({ description: 'Candles of the channel.' }),
  atrPeriod: z
    .int()
    .min(2)
    .max(100)
    .default(14)
    .meta({ description: 'Candles of the average true range.' }),
  size: positiveDecimal('Size of each entry, in the base coin.'),
  stopRanges: z
    .number()
    .min(0.1)
    .max(20)
    .default(2)
    .meta({ description: 'Stop-loss, in ATR from the entry.' }),
  profitRanges: z
    .number()
    .min(0.1)
    .max(50)
    .default(4)
    .meta({ description: 'Take-profit, in ATR from the entry.' }),
})
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'breakout',
  params: paramsSchema,
  needs: ({ interval, period, atrPeriod }) => ({
    candles: { [interval]: 1 },
    indicators: {
      channel: donchian({ interval, period }),
      range: atr({ interval, period: atrPeriod }),
    },
  }),
  initialState: () => ({ enteredAfter: {} as Record<string, number> }),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `size ${size} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state }) {
    const enteredAfter = { ...state.enteredAfter }
    const intents = snapshot.instruments.flatMap((market) => {
      const { channel, range } = market.indicators
      const candleAt = market.candles(params.interval).at(-1)?.openAt
      if (!market.hasPrices || !channel || range === undefined || candleAt === undefined) return []
      const isBusy = market.netLots !== 0 || market.orders.length > 0
      if (isBusy || enteredAfter[market.symbol] === candleAt) return []
      const direction = market.last > channel.upper ? 1 : market.last < channel.lower ? -1 : 0
      if (direction === 0) return []
      enteredAfter[market.symbol] = candleAt
      const key = `breakout:${market.symbol}:${candleAt}`
      return [
        market.place({
          key,
          lots: market.lots(params.size),
          ...buildEntry(market, direction, range, params),
        }),
      ]
    })
    return { intents, state: { enteredAfter } }
  },
})

/** The entry takes the best price or nothing, and carries both exits. */
function buildEntry(
  market: InstrumentView,
  direction: 1 | -1,
  range: number,
  { stopRanges, profitRanges }: Params,
) {
  const ticks = direction > 0 ? market.askTicks : market.bidTicks
  const ticksAt = (ranges: number) =>
    Math.max(1, market.ticksBelow(market.price(ticks) + direction * ranges * range))
  return {
    action: direction > 0 ? ('openLong' as const) : ('openShort' as const),
    ticks,
    force: 'ioc' as const,
    takeProfitTicks: ticksAt(profitRanges),
    stopLossTicks: ticksAt(-stopRanges),
  }
}
