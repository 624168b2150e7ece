/**
 * Gives a fresh ticker a past: minutes built backwards from the start price. Random streams of its
 * own keep the later path independent of it.
 */
import { createGrid, nearestStep } from '../../../lib/grid.ts'
import { clamp, createRandom, exponential, logarithm, type Random } from '../../../lib/random.ts'
import type { MarketInstrument, MinuteBar } from '../market.ts'
import { SHARED_VOLATILITY, Volatility } from './moves.ts'
import { DEFAULT_YEARLY_VOLATILITY, OWN_VOLATILITY, SHARED_VARIANCE } from './seeded-path.ts'

const MINUTE_MS = 60_000
const MINUTES_A_DAY = 1440
const MINUTES_A_YEAR = 525_600

/**
 * 1440 minutes, oldest first. @param options.endAt The last bar ends at the start of this minute,
 * at the start price.
 */
export function buildPastDay(options: {
  readonly seed: number | string
  readonly instrument: MarketInstrument
  readonly endAt: number
}): MinuteBar[] {
  const { seed, instrument, endAt } = options
  const sharedRandom = createRandom(seed).fork('past')
  const random = createRandom(seed).fork(instrument.symbol).fork('past')
  const stepMs = MINUTE_MS
  const shared = new Volatility({ components: SHARED_VOLATILITY, stepMs, random: sharedRandom })
  const own = new Volatility({ components: OWN_VOLATILITY, stepMs, random })
  const yearly = instrument.yearlyVolatility ?? DEFAULT_YEARLY_VOLATILITY
  const usualDeviation = yearly / Math.sqrt(MINUTES_A_YEAR)
  const turnover = instrument.dailyTurnover / MINUTES_A_DAY
  const lot = Number(instrument.lotSize)
  const tickGrid = createGrid(instrument.tickSize)
  const endMinuteAt = Math.floor(endAt / MINUTE_MS) * MINUTE_MS
  const bars: MinuteBar[] = []
  let close = Number(instrument.startPrice)
  for (let minute = 1; minute <= MINUTES_A_DAY; minute++) {
    shared.advance()
    own.advance()
    const [sharedMove, ownMove] = [sharedRandom.normal(), random.normal()]
    const wildness = exponential(shared.level() + own.level())
    const deviation = usualDeviation * wildness
    const move = Math.sqrt(SHARED_VARIANCE) * sharedMove + Math.sqrt(1 - SHARED_VARIANCE) * ownMove
    const open = close / (1 + clamp(deviation * move, 0.2))
    const toTicks = (price: number) => Math.max(1, nearestStep(tickGrid, price))
    const reach = { from: open, to: close, deviation: deviation * close }
    const { high, low } = drawExtremes(random, reach)
    const lots =
      (turnover * wildness * wildness * exponential(0.5 * random.normal() - 0.125)) / close / lot
    bars.push({
      startAt: endMinuteAt - minute * MINUTE_MS,
      openTicks: toTicks(open),
      highTicks: toTicks(high),
      lowTicks: toTicks(low),
      closeTicks: toTicks(close),
      lots: Math.round(lots),
    })
    close = open
  }
  return bars.reverse()
}

function drawExtremes(
  random: Random,
  { from, to, deviation }: { from: number; to: number; deviation: number },
) {
  const reach = () => {
    const spread = -2 * deviation * deviation * logarithm(1 - random.next())
    return Math.sqrt((to - from) * (to - from) + spread) / 2
  }
  const middle = (from + to) / 2
  return { high: middle + reach(), low: Math.max(middle - reach(), middle / 2) }
}
