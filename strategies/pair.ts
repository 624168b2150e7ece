import { defineStrategy, type InstrumentView, type SnapshotView, z } from 'intentd/strategy'

/**
 * Trades two instruments that move together. If their ratio is unusually high, it is short the
 * first and long the second, for the same value; if unusually low, the other way round. It closes
 * both when the ratio is back at its mean.
 *
 * Unusual is measured as a z-score: how many standard deviations the logarithm of the ratio is from
 * its mean over the last closed candles. A ratio that does not return in time counts as a new
 * normal: both legs are closed, and there is no new entry until the old signal is gone. One
 * decision sets both legs or none.
 */
interface Pair {
  /** Side of the first leg; 0 without a position. */
  side: -1 | 0 | 1
  /** Lots of each leg at the entry, and the candle after which it entered, Unix ms. */
  lots: readonly [number, number]
  enteredAt: number
  /** The side given up on, until its signal is gone; else 0. */
  givenUp: -1 | 0 | 1
}

const paramsSchema = z
  .strictObject({
    interval: z.string().default('5m').meta({ description: 'Length of a candle.' }),
    period: z
      .int()
      .min(10)
      .max(2000)
      .default(100)
      .meta({ description: 'Candles of the mean and the deviation.' }),
    entry: z
      .number()
      .min(0.5)
      .max(10)
      .default(2)
      .meta({ description: 'z-score from which it enters.' }),
    exit: z
      .number()
      .min(0)
      .max(5)
      .default(0.25)
      .meta({ description: 'z-score below which it leaves.' }),
    holdCandlesMax: z
      .int()
      .min(1)
      .max(5000)
      .default(100)
      .meta({ description: 'It leaves after so many candles in any case.' }),
    notional: z.number().positive().meta({ description: 'Value of each leg, in the quote coin.' }),
  })
  .refine(({ entry, exit }) => exit < entry, { path: ['exit'], error: 'exit must be below entry' })
type Params = z.infer<typeof paramsSchema>

/** A smaller deviation is only rounding, and the ratio counts as constant. */
const DEVIATION_MIN = 1e-9
const OUT: Pair = { side: 0, lots: [0, 0], enteredAt: 0, givenUp: 0 }

export default defineStrategy({
  name: 'pair',
  params: paramsSchema,
  needs: ({ interval, period }) => ({ candles: { [interval]: period } }),
  decides: 'candle',
  initialState: () => OUT,

  check(_params, instruments) {
    return instruments.length === 2 ? [] : [`a pair is two instruments, not ${instruments.length}`]
  },

  decide(snapshot, { params, state }) {
    const [first, second] = snapshot.instruments
    const spread = readSpread(snapshot, params)
    if (!first?.hasPrices || !second?.hasPrices || spread === undefined)
      return { intents: [], state }
    // After a start, one leg's position may be read before the other's.
    if (first.positionReadAt === 0 || second.positionReadAt === 0) return { intents: [], state }
    const pair = updatePair(state, spread, params, () => [
      lotsOf(first, params),
      lotsOf(second, params),
    ])
    const [firstLots, secondLots] = pair.lots
    const intents = [first.target(pair.side * firstLots), second.target(-pair.side * secondLots)]
    return { intents, state: pair }
  },
})

interface LogRatio {
  zScore: number
  /** Open time of the last candle (Unix ms), and its length. */
  candleAt: number
  intervalMs: number
}

/** Undefined until both instruments have all candles up to the same one. */
function readSpread(
  { instruments }: SnapshotView,
  { interval, period }: Params,
): LogRatio | undefined {
  const [first, second] = instruments.map((market) => market.candles(interval))
  const candleAt = first?.at(-1)?.openAt
  const beforeAt = first?.at(-2)?.openAt
  if (!first || !second || candleAt === undefined || beforeAt === undefined) return undefined
  if (first.length < period || second.length < period || second.at(-1)?.openAt !== candleAt)
    return undefined
  const others = second.closes(period)
  const ratios = first
    .closes(period)
    .map((close, index) => Math.log(close / (others[index] ?? Number.NaN)))
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / period
  const deviation = Math.sqrt(ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / period)
  const zScore = ((ratios.at(-1) ?? Number.NaN) - mean) / deviation
  return deviation > DEVIATION_MIN && Number.isFinite(zScore)
    ? { zScore, candleAt, intervalMs: candleAt - beforeAt }
    : undefined
}

function updatePair(
  pair: Pair,
  { zScore, candleAt, intervalMs }: LogRatio,
  params: Params,
  sizeLegs: () => [number, number],
): Pair {
  if (pair.side !== 0) {
    const isBack = pair.side < 0 ? zScore <= params.exit : zScore >= -params.exit
    if (isBack) return OUT
    const isLate = candleAt - pair.enteredAt >= params.holdCandlesMax * intervalMs
    return isLate ? { ...OUT, givenUp: pair.side } : pair
  }
  const side = zScore >= params.entry ? -1 : zScore <= -params.entry ? 1 : 0
  if (side === 0 || side === pair.givenUp) return { ...OUT, givenUp: side }
  const lots = sizeLegs()
  return lots.every((leg) => leg > 0) ? { side, lots, enteredAt: candleAt, givenUp: 0 } : OUT
}

/** Lots worth the notional; 0 if that is below the minimum order. */
function lotsOf(market: InstrumentView, { notional }: Params): number {
  const lots = market.lotsBelow(notional / market.mid)
  return lots < market.lotsMin ? 0 : lots
}
