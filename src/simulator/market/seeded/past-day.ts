/**
 * The last day is drawn backwards from the start price, from random streams of its own, so that the
 * later path does not depend on it.
 */
import { createGrid, type Grid, nearestStep } from '../../../lib/grid.ts'
import { clamp, createRandom, exponential, logarithm, type Random } from '../../../lib/random.ts'
import type { MarketInstrument, MinuteBar, PastMinutes } from '../market.ts'
import { SHARED_VOLATILITY, Volatility } from './moves.ts'
import {
  DEFAULT_YEARLY_VOLATILITY,
  OWN_VOLATILITY,
  PRICE_TICKS_MIN,
  SHARED_VARIANCE,
} from './seeded-path.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MINUTES_A_DAY = 1440
const MINUTES_A_YEAR = 525_600

/** @param options.endAt the last bar ends at the start of this minute, at the start price */
export function buildPastDay(options: {
  readonly seed: number | string
  readonly instrument: MarketInstrument
  readonly endAt: number
}): MinuteBar[] {
  const { seed, instrument, endAt } = options
  const moves = new MinuteMoves({
    instrument,
    shared: createRandom(seed).fork('past'),
    own: createRandom(seed).fork(instrument.symbol).fork('past'),
  })
  const endMinuteAt = Math.floor(endAt / MINUTE_MS) * MINUTE_MS
  const bars: MinuteBar[] = []
  let close = Number(instrument.startPrice)
  for (let minute = 1; minute <= MINUTES_A_DAY; minute++) {
    const { deviation, move, wildness } = moves.next()
    const open = close / (1 + clamp(deviation * move, 0.2))
    const startAt = endMinuteAt - minute * MINUTE_MS
    bars.push(moves.toBar({ startAt, open, close, deviation, wildness }))
    close = open
  }
  return bars.reverse()
}

interface MinuteShape {
  readonly startAt: number
  readonly open: number
  readonly close: number
  readonly deviation: number
  readonly wildness: number
}

class MinuteMoves {
  readonly #sharedRandom: Random
  readonly #random: Random
  readonly #shared: Volatility
  readonly #own: Volatility
  readonly #usualDeviation: number
  readonly #turnover: number
  readonly #lot: number
  readonly #grid: Grid

  constructor(options: {
    readonly instrument: MarketInstrument
    readonly shared: Random
    readonly own: Random
  }) {
    const { instrument, shared, own } = options
    const stepMs = MINUTE_MS
    this.#sharedRandom = shared
    this.#random = own
    this.#shared = new Volatility({ components: SHARED_VOLATILITY, stepMs, random: shared })
    this.#own = new Volatility({ components: OWN_VOLATILITY, stepMs, random: own })
    const yearly = instrument.yearlyVolatility ?? DEFAULT_YEARLY_VOLATILITY
    this.#usualDeviation = yearly / Math.sqrt(MINUTES_A_YEAR)
    this.#turnover = instrument.dailyTurnover / MINUTES_A_DAY
    this.#lot = Number(instrument.lotSize)
    this.#grid = createGrid(instrument.tickSize)
  }

  next(): { readonly deviation: number; readonly move: number; readonly wildness: number } {
    this.#shared.advance()
    this.#own.advance()
    const [sharedMove, ownMove] = [this.#sharedRandom.normal(), this.#random.normal()]
    const wildness = exponential(this.#shared.level() + this.#own.level())
    const move = Math.sqrt(SHARED_VARIANCE) * sharedMove + Math.sqrt(1 - SHARED_VARIANCE) * ownMove
    return { deviation: this.#usualDeviation * wildness, move, wildness }
  }

  toBar({ startAt, open, close, deviation, wildness }: MinuteShape): MinuteBar {
    const random = this.#random
    const toTicks = (price: number) => Math.max(1, nearestStep(this.#grid, price))
    const reach = { from: open, to: close, deviation: deviation * close }
    const { high, low } = drawExtremes(random, reach)
    const spread = exponential(0.5 * random.normal() - 0.125)
    const lots = (this.#turnover * wildness * wildness * spread) / close / this.#lot
    return {
      startAt,
      openTicks: toTicks(open),
      highTicks: toTicks(high),
      lowTicks: toTicks(low),
      closeTicks: toTicks(close),
      lots: Math.round(lots),
    }
  }
}

const PAST_DAYS = 400
const DRAWN_DAYS_MAX = 8

interface PastEnds {
  readonly lastDay: readonly MinuteBar[]
  readonly prices: readonly number[]
}

/**
 * Draws a day when it is requested, between prices that are drawn first, so that a day is always
 * the same.
 */
export class SeededPast implements PastMinutes {
  readonly untilAt: number
  readonly #drawnUntilAt: number
  #ends: PastEnds | undefined
  readonly fromAt: number
  readonly #seed: number | string
  readonly #instrument: MarketInstrument
  readonly #drawn = new Map<number, readonly MinuteBar[]>()

  constructor(options: {
    readonly seed: number | string
    readonly instrument: MarketInstrument
    readonly endAt: number
  }) {
    const { seed, instrument, endAt } = options
    this.#seed = seed
    this.#instrument = instrument
    this.untilAt = Math.floor(endAt / MINUTE_MS) * MINUTE_MS
    this.#drawnUntilAt = this.untilAt - DAY_MS
    this.fromAt = this.#drawnUntilAt - PAST_DAYS * DAY_MS
  }

  between(fromAt: number, untilAt: number): readonly MinuteBar[] {
    const bars: MinuteBar[] = []
    const until = Math.min(untilAt, this.untilAt)
    for (let at = Math.max(fromAt, this.fromAt); at < until;) {
      const day = Math.ceil((this.#drawnUntilAt - at) / DAY_MS) - 1
      const minutes = at < this.#drawnUntilAt ? this.#day(day) : this.#drawEnds().lastDay
      for (const bar of minutes) {
        if (bar.startAt >= at && bar.startAt < until) bars.push(bar)
      }
      at = at < this.#drawnUntilAt ? this.#drawnUntilAt - day * DAY_MS : this.untilAt
    }
    return bars
  }

  #drawEnds(): PastEnds {
    if (this.#ends !== undefined) return this.#ends
    const [seed, instrument] = [this.#seed, this.#instrument]
    const lastDay = buildPastDay({ seed, instrument, endAt: this.untilAt })
    const endPrice = (lastDay[0]?.openTicks ?? 1) * Number(instrument.tickSize)
    this.#ends = { lastDay, prices: this.#drawPrices(endPrice) }
    return this.#ends
  }

  #drawPrices(endPrice: number): readonly number[] {
    const shared = createRandom(this.#seed).fork('past days')
    const own = createRandom(this.#seed).fork(this.#instrument.symbol).fork('past days')
    const yearly = this.#instrument.yearlyVolatility ?? DEFAULT_YEARLY_VOLATILITY
    const prices = [endPrice]
    for (let day = 0; day < PAST_DAYS; day++) {
      const move =
        Math.sqrt(SHARED_VARIANCE) * shared.normal() + Math.sqrt(1 - SHARED_VARIANCE) * own.normal()
      const before = (prices[day] ?? endPrice) / (1 + clamp((yearly / Math.sqrt(365)) * move, 0.2))
      prices.push(Math.max(before, PRICE_TICKS_MIN * Number(this.#instrument.tickSize)))
    }
    return prices
  }

  #day(day: number): readonly MinuteBar[] {
    const bars = this.#drawn.get(day) ?? this.#drawDay(day)
    this.#drawn.delete(day)
    this.#drawn.set(day, bars)
    for (const oldest of this.#drawn.keys()) {
      if (this.#drawn.size <= DRAWN_DAYS_MAX) break
      this.#drawn.delete(oldest)
    }
    return bars
  }

  /** The day's move, less the sum of its minutes', is spread over them. */
  #drawDay(day: number): readonly MinuteBar[] {
    const moves = new MinuteMoves({
      instrument: this.#instrument,
      shared: createRandom(this.#seed).fork(`past day ${day}`),
      own: createRandom(this.#seed).fork(this.#instrument.symbol).fork(`past day ${day}`),
    })
    const { prices } = this.#drawEnds()
    const [endPrice = 0, startPrice = 0] = [prices[day], prices[day + 1]]
    const shapes = Array.from({ length: MINUTES_A_DAY }, () => moves.next())
    const steps = shapes.map(({ deviation, move }) => clamp(deviation * move, 0.2))
    const whole = logarithm(endPrice / startPrice)
    const lacking = (whole - steps.reduce((sum, step) => sum + step, 0)) / MINUTES_A_DAY
    const startAt = this.#drawnUntilAt - (day + 1) * DAY_MS
    let open = startPrice
    return shapes.map(({ deviation, wildness }, minute) => {
      const isLast = minute === MINUTES_A_DAY - 1
      const close = isLast ? endPrice : open * exponential((steps[minute] ?? 0) + lacking)
      const at = startAt + minute * MINUTE_MS
      const bar = moves.toBar({ startAt: at, open, close, deviation, wildness })
      open = close
      return bar
    })
  }
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
