import {
  defineStrategy,
  type InstrumentView,
  type Intent,
  positiveDecimal,
  type QuoteLevel,
  z,
} from 'intentd/strategy'

/**
 * A grid: buy orders below the price, sell orders above it, all the same size, at fixed levels.
 *
 *     +2  sell        +2  sell      Levels count from the anchor, where the price was when the ladder was
 *     +1  sell        +1  (empty)   built. The level filled last stays empty, and its neighbours take the
 *      0  (empty) ->   0  buy       other side: what is bought at one level is sold at the next one up.
 *     -1  buy         -1  buy       Each swing by a level and back earns the spacing.
 *
 * When the price leaves the ladder, a new one is built around it and the position stays. A grid
 * loses in a trend; the risk limits of the strategy file bound the position.
 */
interface Ladder {
  /** Price of level 0 in ticks, and ticks between levels. */
  anchorTicks: number
  spacingTicks: number
  /**
   * The level filled last and the position at that time. A fill of one more whole level moves it.
   */
  emptyLevel: number
  countedLots: number
}

const levelCount = z.int().min(1).max(50)
const paramsSchema = z.strictObject({
  spacingBps: z
    .number()
    .min(0.1)
    .max(1000)
    .meta({ description: 'From level to level, in bps of the price.' }),
  levels: levelCount.meta({ description: 'Levels on each side of the anchor.' }),
  size: positiveDecimal('Size of each order, in the base coin.'),
  recentreAfterLevels: levelCount
    .optional()
    .meta({ description: 'When to start afresh. Default: levels.' }),
})
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'grid',
  params: paramsSchema,
  initialState: () => ({ ladders: {} as Record<string, Ladder> }),

  check({ size }, instruments) {
    const tooSmall = instruments.filter((market) => market.lots(size) < market.lotsMin)
    return tooSmall.map(({ symbol }) => `size ${size} is below the smallest order of ${symbol}`)
  },

  decide(snapshot, { params, state }) {
    let { ladders } = state
    const intents: Intent[] = []
    for (const market of snapshot.instruments) {
      if (!market.hasPrices) continue
      const known = ladders[market.symbol]
      const ladder = updateLadder(market, params, known)
      if (ladder !== known) ladders = { ...ladders, [market.symbol]: ladder }
      intents.push(market.quote(buildLevels(market, params, ladder)))
    }
    return { intents, state: ladders === state.ladders ? state : { ladders } }
  },
})

/**
 * Moves the ladder with its fills. It is the same object if nothing was filled, and a new ladder
 * once the price has left it.
 */
function updateLadder(market: InstrumentView, params: Params, ladder?: Ladder): Ladder {
  const midTicks = market.ticksBelow(market.mid)
  const reach = 1 + (params.recentreAfterLevels ?? params.levels)
  if (!ladder || Math.abs(midTicks - ladder.anchorTicks) >= reach * ladder.spacingTicks) {
    const spacingTicks = Math.max(1, market.ticksBelow((market.mid * params.spacingBps) / 10_000))
    return { anchorTicks: midTicks, spacingTicks, emptyLevel: 0, countedLots: market.netLots }
  }
  const lots = market.lots(params.size)
  const levelsBought = Math.trunc((market.netLots - ladder.countedLots) / lots)
  if (levelsBought === 0) return ladder
  return {
    ...ladder,
    emptyLevel: ladder.emptyLevel - levelsBought,
    countedLots: ladder.countedLots + levelsBought * lots,
  }
}

/** Rungs that can rest now: usually all of them. */
function buildLevels(
  market: InstrumentView,
  params: Params,
  ladder: Ladder,
): readonly QuoteLevel[] {
  const rungs = rungsOf(market, params, ladder)
  const { bidTicks, askTicks } = market
  for (const { side, ticks } of rungs) {
    if (side === 'buy' ? ticks >= askTicks : ticks <= bidTicks)
      return rungs.filter((rung) => canRest(market, rung))
  }
  return rungs
}

/** The rungs of a ladder do not depend on the price, so they are built once for each ladder. */
const keptRungs = new WeakMap<
  Ladder,
  { readonly params: Params; readonly rungs: readonly QuoteLevel[] }
>()

function rungsOf(market: InstrumentView, params: Params, ladder: Ladder): readonly QuoteLevel[] {
  const kept = keptRungs.get(ladder)
  if (kept?.params === params) return kept.rungs
  const rungs = buildRungs(market, params, ladder)
  keptRungs.set(ladder, { params, rungs })
  return rungs
}

/** Rungs nearest the price come first, because they matter most where few orders are allowed. */
function buildRungs(
  market: InstrumentView,
  { levels, size }: Params,
  ladder: Ladder,
): QuoteLevel[] {
  const { anchorTicks, spacingTicks, emptyLevel } = ladder
  const lots = market.lots(size)
  const rungs: QuoteLevel[] = []
  const add = (side: 'buy' | 'sell', level: number): void => {
    const ticks = anchorTicks + level * spacingTicks
    if (Math.abs(level) <= levels && ticks > 0) rungs.push({ side, ticks, lots })
  }
  for (let distance = 1; distance <= 2 * levels; distance++) {
    add('buy', emptyLevel - distance)
    add('sell', emptyLevel + distance)
  }
  return rungs
}

/**
 * A post-only order that would cross the spread is refused, but one that already rests at this
 * price may stay.
 */
function canRest(
  { bidTicks, askTicks, orders }: InstrumentView,
  { side, ticks }: QuoteLevel,
): boolean {
  if (side === 'buy' ? ticks < askTicks : ticks > bidTicks) return true
  return orders.some((order) => order.side === side && order.ticks === ticks)
}
