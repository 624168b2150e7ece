import { defineStrategy, type InstrumentView, positiveDecimal, z } from 'intentd/strategy'

/**
 * Executes one large order (the parent) as many small ones (its children), spread evenly over a
 * time, so that the average price paid is near the average price of that time (TWAP).
 *
 * Each slot places what is missing by then: the parent's share of the elapsed time minus the fills.
 * So the next child includes what one child did not fill, also after the end, and the total never
 * exceeds the parent. A child takes the best price and leaves nothing resting.
 */
interface Parent {
  name: string
  /** Unix ms, exchange clock. */
  startAt: number
  /** Position before the parent began, in lots. */
  startLots: number
  /** The last slot that placed an order, and when it did, Unix ms on our clock. */
  slot: number
  askedAt: number
}

const paramsSchema = z
  .strictObject({
    parent: z
      .string()
      .regex(/^[\w.-]{1,40}$/)
      .meta({ description: 'Names the parent order. Another name is another order.' }),
    side: z.enum(['buy', 'sell']).meta({ description: 'Which way it trades.' }),
    total: positiveDecimal('Size of the parent, in the base coin.'),
    minutes: z.number().min(1).max(10_080).meta({ description: 'How long it takes, in minutes.' }),
    // The answer and the fills of a child must arrive before the next one.
    everySeconds: z
      .int()
      .min(10)
      .max(3600)
      .default(60)
      .meta({ description: 'From child to child, in seconds.' }),
  })
  .refine(({ minutes, everySeconds }) => everySeconds <= minutes * 60, {
    path: ['everySeconds'],
    error: 'everySeconds must not be above the whole time',
  })
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'twap',
  params: paramsSchema,
  initialState: () => ({ parents: {} as Record<string, Parent> }),

  check({ total }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(total) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `total ${total} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state }) {
    const { exchangeTime, takenAt, fillsReadAt } = snapshot
    const parents = { ...state.parents }
    const intents = snapshot.instruments.flatMap((market) => {
      if (!market.hasPrices) return []
      const kept = parents[market.symbol]
      const started = {
        name: params.parent,
        startAt: exchangeTime,
        startLots: market.netLots,
        slot: -1,
        askedAt: 0,
      }
      const parent = kept?.name === params.parent ? kept : started
      const slot = Math.floor((exchangeTime - parent.startAt) / (params.everySeconds * 1000))
      const isSettled = market.orders.length === 0 && fillsReadAt > parent.askedAt
      if (slot <= parent.slot || !isSettled) return []
      parents[market.symbol] = { ...parent, slot, askedAt: takenAt }
      const lots = countMissing(market, params, parent, slot)
      return lots < market.lotsMin ? [] : [placeChild(market, params, lots, slot)]
    })
    return { intents, state: { parents } }
  },
})

/** Lots that should be filled by the end of this slot, minus those that are. */
function countMissing(
  market: InstrumentView,
  params: Params,
  parent: Parent,
  slot: number,
): number {
  const total = market.lots(params.total)
  const slots = Math.ceil((params.minutes * 60) / params.everySeconds)
  const filled = (market.netLots - parent.startLots) * (params.side === 'buy' ? 1 : -1)
  return Math.floor((total * Math.min(slots, slot + 1)) / slots) - filled
}

/**
 * The time to live is short: a child that waits longer than half a slot is left to the next one.
 */
function placeChild(market: InstrumentView, params: Params, lots: number, slot: number) {
  const isBuy = params.side === 'buy'
  return market.place({
    key: `twap:${params.parent}:${market.symbol}:${slot}`,
    action: isBuy ? 'openLong' : 'openShort',
    lots,
    ticks: isBuy ? market.askTicks : market.bidTicks,
    force: 'ioc',
    ttlMs: params.everySeconds * 500,
  })
}
