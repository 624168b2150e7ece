import { defineStrategy, type InstrumentView, positiveDecimal, z } from '#strategy'

/**
 * One large order (the parent) as many small ones (its children), spread evenly over a time, so that the price paid
 * is near the average price of that time (TWAP).
 *
 * Each slot asks for what is missing by then: the parent's share of the time that has passed, less what is filled.
 * So what one child did not get, the next one carries, after the end as well; and nothing is asked for beyond the
 * parent. A child takes at the best price and leaves nothing behind.
 */
interface Parent {
  name: string
  /** Unix ms, exchange clock. */
  startAt: number
  /** What was held before, in lots. */
  startLots: number
  /** The last slot that asked, and when it did, Unix ms on our clock. */
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
    // An answer, and its fill among the fills, must be there before the next child.
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

/** What should be filled by the end of this slot, less what is. */
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

/** A short time to live: a child that waits for its call longer than half a slot is left to the next one. */
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
