import { defineStrategy, positiveDecimal, z } from 'intentd/strategy'

/**
 * Takes the side that is paid funding: short while longs pay, long while shorts pay. A larger rate
 * gives a larger position.
 *
 *     rate below rateMin      nothing: fees would cost more than the rate brings
 *     rateMin to rateFull     a share of the size, in quarters, so that a rate that wavers does not trade all day
 *     rateFull and above      the size: the cap
 *
 * It trades only in the last minutes before the payment: then the rate is nearly known, and the
 * price has the least time to move.
 */
const STEPS = 4
const MINUTE_MS = 60_000

const paramsSchema = z
  .strictObject({
    size: positiveDecimal('Largest position, in the base coin.'),
    rateMin: z
      .number()
      .min(0)
      .max(0.1)
      .meta({ description: 'Least rate that is traded on: 0.0001 is one basis point.' }),
    rateFull: z
      .number()
      .min(0.000001)
      .max(0.1)
      .meta({ description: 'Rate at which the whole size is held.' }),
    minutesBefore: z
      .number()
      .min(2)
      .max(1440)
      .default(60)
      .meta({ description: 'How long before the payment it enters.' }),
  })
  .refine(({ rateMin, rateFull }) => rateMin <= rateFull, {
    path: ['rateMin'],
    error: 'rateMin must not be above rateFull',
  })
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'funding',
  params: paramsSchema,
  needs: { candles: { '1m': 1 } },
  decides: 'candle',
  initialState: () => ({}),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin * STEPS)
    return tooSmall.map(
      ({ symbol }) => `a quarter of size ${size} is below the smallest order of ${symbol}`,
    )
  },

  decide(snapshot, { params, state }) {
    const intents = snapshot.instruments.flatMap((market) => {
      const { fundingRate, nextFundingAt } = market
      if (!market.hasPrices || nextFundingAt === undefined || Number.isNaN(fundingRate)) return []
      const isSoon = nextFundingAt - snapshot.exchangeTime <= params.minutesBefore * MINUTE_MS
      const lots = Math.floor(market.lots(params.size) * shareOf(fundingRate, params))
      return [market.target(isSoon ? -Math.sign(fundingRate) * lots : 0)]
    })
    return { intents, state }
  },
})

/** A share of the size, 0 to 1. */
function shareOf(rate: number, { rateMin, rateFull }: Params): number {
  if (Math.abs(rate) < rateMin) return 0
  return Math.min(1, Math.ceil((Math.abs(rate) / rateFull) * STEPS) / STEPS)
}
