import { defineStrategy, positiveDecimal, z } from 'intentd/strategy'

/**
 * Trades against the crowd: short if far more accounts are long than short, long in the opposite
 * case, flat again when the two are even.
 *
 * The ratio is a feed of the strategy file, one for each instrument and named like it. While it is
 * missing, old or unreadable, nothing is decided, so the last target stands.
 */
const paramsSchema = z.strictObject({
  size: positiveDecimal('Size of the position, in the base coin.'),
  shortAbove: z
    .number()
    .min(1)
    .max(100)
    .default(2)
    .meta({ description: 'Longs for each short from which it is short.' }),
  longBelow: z
    .number()
    .min(0.01)
    .max(1)
    .default(0.6)
    .meta({ description: 'Longs for each short below which it is long.' }),
  ageMaxMinutes: z
    .number()
    .min(1)
    .max(1440)
    .default(15)
    .meta({ description: 'An older reading counts as none, in minutes.' }),
})
type Params = z.infer<typeof paramsSchema>

const MINUTE_MS = 60_000
/** Answer of the endpoint `longShortRatio`. The order of its rows is not guaranteed. */
const feedSchema = z.array(
  z.object({ ts: z.coerce.number(), longShortRatio: z.coerce.number().positive() }),
)

export default defineStrategy({
  name: 'ratio',
  params: paramsSchema,
  needs: { candles: { '1m': 1 } },
  decides: 'candle',
  initialState: () => ({ sides: {} as Record<string, -1 | 0 | 1> }),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `size ${size} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state, log }) {
    const sides = { ...state.sides }
    const intents = snapshot.instruments.flatMap((market) => {
      const feed = snapshot.feed(market.symbol)
      if (!market.hasPrices || !feed || feed.ageMs > params.ageMaxMinutes * MINUTE_MS) return []
      const ratio = newestRatio(feed.data)
      if (ratio === undefined) return []
      const side = chooseSide(ratio, params, sides[market.symbol] ?? 0)
      if (side !== sides[market.symbol]) log.info('side', { symbol: market.symbol, ratio, side })
      sides[market.symbol] = side
      return [market.target(side * market.lots(params.size))]
    })
    return { intents, state: { sides } }
  },
})

function newestRatio(data: unknown): number | undefined {
  const { data: rows = [] } = feedSchema.safeParse(data)
  return rows.toSorted((a, b) => a.ts - b.ts).at(-1)?.longShortRatio
}

/** A side is kept until longs and shorts are even. */
function chooseSide(
  ratio: number,
  { shortAbove, longBelow }: Params,
  side: -1 | 0 | 1,
): -1 | 0 | 1 {
  if (ratio >= shortAbove) return -1
  if (ratio <= longBelow) return 1
  const isEven = side === -1 ? ratio <= 1 : ratio >= 1
  return isEven ? 0 : side
}
