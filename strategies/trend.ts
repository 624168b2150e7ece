import { defineStrategy, type Intent, positiveDecimal, z } from 'intentd/strategy'

/**
 * Follows the trend: long while the fast average of the price is above the slow one, short while it
 * is below.
 *
 * Every snapshot yields the wanted position; the daemon sends the orders that lead there. Until the
 * slow average covers enough time, no position is wanted.
 */
interface Averages {
  fast: number
  slow: number
  /** When the averages began and when they were last updated, Unix ms, exchange clock. */
  since: number
  at: number
  /** The last side; 0 before the first. */
  side: -1 | 0 | 1
}

const seconds = z.number().min(1).max(864_000)
const paramsSchema = z
  .strictObject({
    fastSeconds: seconds.meta({ description: 'Memory of the fast average, in seconds.' }),
    slowSeconds: seconds.meta({ description: 'Memory of the slow average, in seconds.' }),
    size: positiveDecimal('Size of the position, in the base coin.'),
    thresholdBps: z.number().min(0).max(1000).default(0).meta({
      description: 'How far apart the averages must be before the side changes, in basis points.',
    }),
    allowShort: z
      .boolean()
      .default(true)
      .meta({ description: 'Short, or else flat, while the trend is down.' }),
  })
  .refine(({ fastSeconds, slowSeconds }) => fastSeconds < slowSeconds, {
    path: ['fastSeconds'],
    error: 'fastSeconds must be below slowSeconds',
  })
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'trend',
  params: paramsSchema,
  initialState: () => ({ averages: {} as Record<string, Averages> }),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `size ${size} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state }) {
    const averages = { ...state.averages }
    const intents: Intent[] = []
    for (const market of snapshot.instruments) {
      if (!market.hasPrices) continue
      const average = updateAverages(
        market.mid,
        snapshot.exchangeTime,
        params,
        averages[market.symbol],
      )
      averages[market.symbol] = average
      market.plot('fast', average.fast)
      market.plot('slow', average.slow)
      const seenSeconds = Math.floor((average.at - average.since) / 1000)
      if (seenSeconds < params.slowSeconds) {
        market.waitsFor(`${params.slowSeconds} s of prices, ${seenSeconds} s so far`)
        continue
      }
      const side = params.allowShort ? average.side : Math.max(0, average.side)
      intents.push(market.target(side * market.lots(params.size)))
    }
    return { intents, state: { averages } }
  },
})

function updateAverages(price: number, at: number, params: Params, last?: Averages): Averages {
  if (!last) return { fast: price, slow: price, since: at, at, side: 0 }
  const elapsedMs = Math.max(0, at - last.at)
  const fast = last.fast + (price - last.fast) * weightOf(elapsedMs, params.fastSeconds)
  const slow = last.slow + (price - last.slow) * weightOf(elapsedMs, params.slowSeconds)
  // Between the thresholds the side is kept, because noise would otherwise reverse the position
  // again and again.
  const gapBps = (fast / slow - 1) * 10_000
  const side = gapBps > params.thresholdBps ? 1 : gapBps < -params.thresholdBps ? -1 : last.side
  return { fast, slow, since: last.since, at: last.at + elapsedMs, side }
}

/**
 * The weight of a price grows with the time since the last snapshot, because snapshots come at
 * irregular times.
 */
function weightOf(elapsedMs: number, memorySeconds: number): number {
  return elapsedMs / (elapsedMs + memorySeconds * 1000)
}
