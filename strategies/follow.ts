import { defineStrategy, positiveDecimal, z } from 'intentd/strategy'

/**
 * Follows a signal from outside, such as the alert of a chart: long, short or flat as the last one
 * says, and flat once it has expired. Its stops are `exits:` of its settings.
 *
 * Without a signal it is flat: an alert that stays away closes what it began.
 */
const paramsSchema = z.strictObject({
  signal: z.string().default('tv').meta({ description: 'The name of the signal.' }),
  size: positiveDecimal('Size of the position, in the base coin.'),
})

/** One of its fields is followed. */
const actionSchema = z.object({ action: z.enum(['long', 'short', 'flat']) })
const SIDES = { long: 1, short: -1, flat: 0 } as const

export default defineStrategy({
  name: 'follow',
  params: paramsSchema,
  // That a signal has expired is seen when the next candle closes.
  needs: { candles: { '1m': 1 } },
  decides: ['signal', 'candle'],
  initialState: () => ({ id: '' }),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `size ${size} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state, log }) {
    const signal = snapshot.signal(params.signal)
    const { data } = actionSchema.safeParse(signal?.value)
    const action = data?.action ?? 'flat'
    const id = signal?.id ?? ''
    if (id !== state.id) log.info('signal', { id, action, ageMs: signal?.ageMs ?? 0 })
    const intents = snapshot.instruments
      .filter((market) => market.hasPrices)
      .map((market) => market.target(SIDES[action] * market.lots(params.size)))
    return { intents, state: { id } }
  },
})
