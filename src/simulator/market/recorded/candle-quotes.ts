/**
 * The quotes of a candle's points. Nothing of a candle is shown before it has happened: what is displayed beside its
 * prices, and how wide the market is, follow from the candles before it.
 *
 *   last     a rising point was traded at the ask, a falling one at the bid, one that stands still where the last was
 *   traded   the candle's volume, shared out at random, to the last lot
 *   sizes    3 % of what the last candles traded (the median), spread like those of real quotes
 *   spread   a tick, and more the wilder and the thinner the last candles were
 */
import {
  exponential,
  likelyValues,
  logarithm,
  normalQuantile,
  type Random,
} from '../../../lib/random.ts'
import { levelTicksFor, type MutableQuote } from '../market.ts'
import type { CandleMemory } from '../quote-grid.ts'

/** Displayed at each side: this share of the volume of a candle before, and the spread of its logarithm. */
const DISPLAYED_SHARE = 0.03
const DISPLAYED_DEVIATION = 1.2

/**
 * An assumption, since candles know no quotes: the mean spread beyond the first tick is this share of the range of a
 * minute, over the quote coin traded in it to the power 0.75. That is a fourth of a tick for the BTC perpetual (a
 * range of 6 bp, 3 million USDT a minute), and 1.5 bp for a coin with a range of 20 bp and 3,000 USDT.
 */
const SPREAD_SHARE = 30
/** And at most this share of the range. */
const SPREAD_RANGE_MAX = 0.25

/** How large an instrument's market is where no candle has shown it yet, and what its lots are worth. */
export interface CandleScale {
  /** Traded in a candle. */
  readonly lots: number
  /** Quote coin of one lot at a price of one tick. */
  readonly lotNotional: number
  /** Length of a candle, ms. */
  readonly intervalMs: number
}

/** What one candle's quotes are made of. */
export interface CandleParts {
  /** The price of each point, in ticks, and how far down and up the way there went. */
  readonly path: Float64Array
  readonly lows: Float64Array
  readonly highs: Float64Array
  /** When each point is there; of two at one instant the first is an extreme that nobody sees. */
  readonly times: Float64Array
  /** The last price before the candle, in ticks; 0 when there was none. */
  readonly before: number
  /** 1 when the last move before the candle was up, -1 when it was down; 0 when there was none. */
  readonly signBefore: number
  /** Traded in the candle. */
  readonly lots: number
  readonly memory: CandleMemory
  readonly scale: CandleScale
}

/**
 * What is drawn for each point is one of so many equally likely values, looked up: a size as a multiple of the median,
 * and a share of random size. To compute them afresh took more time than all else of a market.
 */
const DRAWS = 1024
const SIZES = likelyValues(DRAWS, (share) =>
  exponential(DISPLAYED_DEVIATION * normalQuantile(share)),
)
const SHARES = likelyValues(DRAWS, (share) => -logarithm(1 - share))

/** Makes the quotes of a candle, one a point; the candle's number is left as it is. */
export function fillCandleQuotes(
  quotes: readonly MutableQuote[],
  candle: CandleParts,
  random: Random,
): void {
  const { path, lows, highs, times, lots, memory, scale } = candle
  const medianLots = (memory.candles === 0 ? scale.lots : memory.lots) * DISPLAYED_SHARE
  const levelTicks = levelTicksFor(memory.rangeTicks / Math.sqrt(scale.intervalMs / 60_000))
  const spread = meanSpread(candle)
  let before = candle.before
  let sign = candle.signBefore || (random.next() < 0.5 ? 1 : -1)
  for (const [point, quote] of quotes.entries()) {
    const last = path[point] as number
    if (last !== before) sign = last > before ? 1 : -1
    const isBuy = sign > 0
    const wide = 1 + Math.floor(spread * random.pick(SHARES))
    const bid = Math.max(1, isBuy ? last - wide : last)
    quote.lastTicks = last
    quote.lowTicks = lows[point] as number
    quote.highTicks = highs[point] as number
    quote.isUnseen = times[point] === times[point + 1]
    quote.candleHighTicks = quote.candleLowTicks = last
    quote.bidTicks = bid
    quote.askTicks = Math.max(bid + 1, isBuy ? last : last + wide)
    quote.bidLots = Math.max(1, Math.round(medianLots * random.pick(SIZES)))
    quote.askLots = Math.max(1, Math.round(medianLots * random.pick(SIZES)))
    quote.levelTicks = levelTicks
    quote.candleLots = lots
    before = last
  }
  const end = quotes[quotes.length - 1] as MutableQuote
  for (const price of path) {
    if (price > (end.candleHighTicks as number)) end.candleHighTicks = price
    if (price < (end.candleLowTicks as number)) end.candleLowTicks = price
  }
  shareOut(quotes, lots, random)
}

/** Beyond the first tick, in ticks. */
function meanSpread({ path, memory, scale }: CandleParts): number {
  if (memory.candles === 0 || memory.rangeTicks === 0) return 0
  const minutes = scale.intervalMs / 60_000
  const range = memory.rangeTicks / Math.sqrt(minutes)
  const turnover = Math.max(1, (memory.lots * scale.lotNotional * (path[0] as number)) / minutes)
  const power = Math.sqrt(turnover * Math.sqrt(turnover))
  return Math.min((SPREAD_SHARE * range) / power, memory.rangeTicks * SPREAD_RANGE_MAX)
}

/**
 * Trades of random size, whole lots, that add up to all of them. Points of one instant have one size together: twice as
 * much would say that an extreme was there, and would fill who waits at it.
 */
function shareOut(quotes: readonly MutableQuote[], lots: number, random: Random): void {
  let sum = 0
  let first = 0
  for (let point = 0; point < quotes.length; point++) {
    if (quotes[point]?.isUnseen) continue
    const share = random.pick(SHARES) / (point + 1 - first)
    for (; first <= point; first++) (quotes[first] as MutableQuote).tradedLots = sum += share
  }
  let before = 0
  for (const [point, quote] of quotes.entries()) {
    const until = point === quotes.length - 1 ? lots : Math.floor((lots * quote.tradedLots) / sum)
    quote.tradedLots = until - before
    before = until
  }
}
