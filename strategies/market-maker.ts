import {
  defineStrategy,
  type InstrumentView,
  positiveDecimal,
  type QuoteLevel,
  standardDeviation,
  z,
} from 'intentd/strategy'

/**
 * Quotes a buy order below the price and a sell order above it. Each pair of fills earns the
 * difference.
 *
 *     width    grows with the standard deviation of the last closes: a restless price needs a wider spread
 *     skew     the position moves both orders: if it is long they are lower, so that selling comes first
 *     budget   orders stay until one of them would move by `requoteTicks`: each change costs a cancel,
 *              two calls and the place in the queue
 */
interface QuotePair {
  buyTicks: number
  sellTicks: number
}

const paramsSchema = z.strictObject({
  size: positiveDecimal('Size of each order, in the base coin.'),
  inventoryMax: positiveDecimal(
    'Largest position, in the base coin: the side that adds to it is left out there.',
  ),
  widthMinBps: z
    .number()
    .min(0.1)
    .max(1000)
    .default(4)
    .meta({ description: 'Least distance of an order from the centre, in bps.' }),
  widthDeviations: z
    .number()
    .min(0)
    .max(10)
    .default(1)
    .meta({ description: 'The same in standard deviations; the larger counts.' }),
  period: z
    .int()
    .min(2)
    .max(500)
    .default(30)
    .meta({ description: 'Closed minutes of the standard deviation.' }),
  requoteTicks: z
    .int()
    .min(1)
    .max(100_000)
    .default(50)
    .meta({ description: 'Orders move only by so many ticks or more.' }),
})
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'market-maker',
  params: paramsSchema,
  needs: ({ period }) => ({
    indicators: { deviation: standardDeviation({ interval: '1m', period }) },
  }),
  initialState: () => ({ quoted: {} as Record<string, QuotePair> }),

  check({ size, inventoryMax }, instruments) {
    return instruments.flatMap((market) => [
      ...(market.lots(size) < market.lotsMin
        ? [`size ${size} is below the smallest order of ${market.symbol}`]
        : []),
      ...(market.lots(inventoryMax) < market.lots(size)
        ? [`inventoryMax ${inventoryMax} is below the size ${size}`]
        : []),
    ])
  },

  decide(snapshot, { params, state }) {
    const quoted = { ...state.quoted }
    const intents = snapshot.instruments.flatMap((market) => {
      const { deviation } = market.indicators
      if (!market.hasPrices || deviation === undefined) return []
      const wanted = buildQuote(market, deviation, params)
      const kept = keepQuote(market, wanted, params.requoteTicks, quoted[market.symbol])
      quoted[market.symbol] = kept
      return [market.quote(buildLevels(market, kept, params))]
    })
    return { intents, state: { quoted } }
  },
})

/**
 * The ideal orders if changes cost nothing. Neither crosses the spread, where post-only orders are
 * refused.
 */
function buildQuote(market: InstrumentView, deviation: number, params: Params): QuotePair {
  const width = Math.max(
    (market.mid * params.widthMinBps) / 10_000,
    params.widthDeviations * deviation,
  )
  const centre = market.mid - (market.netLots / market.lots(params.inventoryMax)) * width
  return {
    buyTicks: Math.min(market.askTicks - 1, market.ticksBelow(centre - width)),
    sellTicks: Math.max(market.bidTicks + 1, market.ticksAbove(centre + width)),
  }
}

/**
 * Keeps the orders quoted before, unless they are too far from the ideal or would now cross the
 * spread.
 */
function keepQuote(
  market: InstrumentView,
  wanted: QuotePair,
  requoteTicks: number,
  quoted?: QuotePair,
): QuotePair {
  if (quoted === undefined) return wanted
  const moved = Math.max(
    Math.abs(wanted.buyTicks - quoted.buyTicks),
    Math.abs(wanted.sellTicks - quoted.sellTicks),
  )
  const isSafe = quoted.buyTicks < market.askTicks && quoted.sellTicks > market.bidTicks
  return isSafe && moved < requoteTicks ? quoted : wanted
}

function buildLevels(
  market: InstrumentView,
  { buyTicks, sellTicks }: QuotePair,
  params: Params,
): QuoteLevel[] {
  const lots = market.lots(params.size)
  const lotsMax = market.lots(params.inventoryMax)
  return [
    ...(buyTicks > 0 && market.netLots + lots <= lotsMax
      ? [{ side: 'buy' as const, ticks: buyTicks, lots }]
      : []),
    ...(market.netLots - lots >= -lotsMax
      ? [{ side: 'sell' as const, ticks: sellTicks, lots }]
      : []),
  ]
}
