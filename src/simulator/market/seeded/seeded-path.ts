import { createGrid, floatOnGrid, type Grid } from '../../../lib/grid.ts'
import {
  clamp,
  createRandom,
  exponential,
  restoreRandom,
  type Random,
  type RandomState,
} from '../../../lib/random.ts'
import {
  EMPTY_QUOTE,
  levelTicksFor,
  type MarketInstrument,
  type MutableQuote,
  type Quote,
} from '../market.ts'
import { createShocks, Volatility, type SharedFactor, type Shocks } from './moves.ts'

const YEAR_MS = 365 * 86_400_000
const MINUTE_MS = 60_000

/** With this share, minutes of BTC and ETH correlate by 0.77. */
export const SHARED_VARIANCE = 0.83
export const OWN_VOLATILITY = [
  { deviation: 0.2, memoryMs: 5 * MINUTE_MS },
  { deviation: 0.2, memoryMs: 240 * MINUTE_MS },
]

/**
 * The spread widens with this probability, at usual volatility, and this share of it is left 100 ms
 * later.
 */
const WIDENING_PROBABILITY = 0.07
const GAP_KEPT = 0.1
const GAP_SHARE_MAX = 0.002

/** Standard deviation of ln(displayed size), its lasting share, and the memory of that. */
const SIZE_DEVIATION = 1.45
const SIZE_LASTING_SHARE = 0.83
const SIZE_MEMORY_MS = 950
const SIDES_OPPOSED = 0.5
const SIZE_LEVEL_MAX = 4

const QUIET_TRADES_PER_SECOND = 2.9
const MOVE_TRADE_FACTOR = 4
const TRADE_DEVIATION = 2.2

/** A path turns around at this price, because a tick is too large a share of lower ones. */
export const PRICE_TICKS_MIN = 10

const MEAN_RANGE = 1.6

export const DEFAULT_YEARLY_VOLATILITY = 0.6
/** Median on each side, in quote coin. */
const DISPLAYED_NOTIONAL = 50_000

interface PathLevels {
  price: number
  gapTicks: number
  bidSize: number
  askSize: number
  minuteLots: number
}

export interface SeededPathState extends Readonly<PathLevels> {
  readonly random: RandomState
  readonly volatility: readonly number[]
  readonly quote: Quote
}

export class SeededPath {
  readonly symbol: string
  readonly quote: MutableQuote
  readonly #grid: Grid
  readonly #lot: number
  readonly #random: Random
  readonly #volatility: Volatility
  readonly #shocks: Shocks
  readonly #stepDeviation: number
  readonly #stepMs: number
  readonly #turnoverAMinute: number
  readonly #sizeKeep: number
  readonly #gapKeep: number
  readonly #tradeNotional: number
  readonly #quietTradeProbability: number
  readonly #now: PathLevels
  #wildness = 1

  constructor(options: {
    readonly instrument: MarketInstrument
    readonly seed: number | string
    readonly stepMs: number
    readonly factor: SharedFactor
    readonly state?: SeededPathState | undefined
  }) {
    const { instrument, seed, stepMs, factor, state } = options
    this.symbol = instrument.symbol
    this.#grid = createGrid(instrument.tickSize)
    this.#lot = Number(instrument.lotSize)
    this.#random = state ? restoreRandom(state.random) : createRandom(seed).fork(instrument.symbol)
    this.#volatility = new Volatility({
      components: OWN_VOLATILITY,
      stepMs,
      random: this.#random,
      levels: state?.volatility,
    })
    this.#shocks = createShocks({ stepMs, perSecond: 0.6 })
    this.#stepDeviation =
      (instrument.yearlyVolatility ?? DEFAULT_YEARLY_VOLATILITY) * Math.sqrt(stepMs / YEAR_MS)
    this.#sizeKeep = exponential(-stepMs / SIZE_MEMORY_MS)
    this.#gapKeep = stepMs < 100 ? 1 - ((1 - GAP_KEPT) * stepMs) / 100 : GAP_KEPT
    this.#quietTradeProbability = 1 - exponential((-QUIET_TRADES_PER_SECOND * stepMs) / 1000)
    const moves = 1 - (1 - factor.shockProbability) * (1 - this.#shocks.probability)
    const tradesAStep = (1 - moves) * this.#quietTradeProbability + moves * MOVE_TRADE_FACTOR
    const turnoverAStep = (instrument.dailyTurnover * stepMs) / 86_400_000
    this.#tradeNotional =
      turnoverAStep / tradesAStep / exponential((TRADE_DEVIATION * TRADE_DEVIATION) / 2)
    this.#turnoverAMinute = (turnoverAStep * MINUTE_MS) / stepMs
    this.#stepMs = stepMs
    this.#now = state
      ? { ...state }
      : {
          price: Number(instrument.startPrice),
          gapTicks: 0,
          minuteLots: 0,
          bidSize: this.#random.normal(),
          askSize: this.#random.normal(),
        }
    this.#wildness = exponential(factor.level + this.#volatility.level())
    this.quote = { ...(state?.quote ?? EMPTY_QUOTE) }
  }

  open(): void {
    this.#show(this.#ticks())
    this.#spread()
    this.#count(0)
    this.quote.lastTicks = this.quote.bidTicks
  }

  step(index: number, factor: SharedFactor): void {
    if (index % this.#volatility.updateSteps === 0) {
      this.#volatility.advance()
      this.#wildness = exponential(factor.level + this.#volatility.level())
      this.#spread()
    }
    const before = this.#ticks()
    const shock =
      Math.sqrt(SHARED_VARIANCE) * factor.shock +
      Math.sqrt(1 - SHARED_VARIANCE) * this.#shocks.draw(this.#random)
    if (shock !== 0) this.#move(shock)
    const after = this.#ticks()
    this.#widen(Math.abs(after - before))
    this.#show(after)
    this.#trade(after - before)
    this.#count(Math.floor((index * this.#stepMs) / MINUTE_MS))
  }

  state(): SeededPathState {
    const { price, gapTicks, bidSize, askSize, minuteLots } = this.#now
    return {
      random: this.#random.state(),
      volatility: this.#volatility.state(),
      price,
      gapTicks,
      bidSize,
      askSize,
      minuteLots,
      quote: { ...this.quote },
    }
  }

  #ticks(): number {
    return (this.#now.price * this.#grid.scale) / this.#grid.units
  }

  /** Multiplies by 1 + return, so that there is no drift. */
  #move(shock: number): void {
    this.#now.price *= 1 + clamp(this.#stepDeviation * this.#wildness * shock, 0.5)
    if (this.#ticks() < PRICE_TICKS_MIN) this.#now.price = floatOnGrid(this.#grid, PRICE_TICKS_MIN)
  }

  #spread(): void {
    const minuteDeviation =
      this.#stepDeviation * Math.sqrt(MINUTE_MS / this.#stepMs) * this.#wildness
    this.quote.levelTicks = levelTicksFor(MEAN_RANGE * minuteDeviation * this.#ticks())
  }

  #count(minute: number): void {
    const { quote } = this
    if (minute !== quote.candle) this.#now.minuteLots = 0
    quote.candle = minute
    this.#now.minuteLots += quote.tradedLots
    const usual = Math.round(this.#turnoverAMinute / (this.#now.price * this.#lot))
    quote.candleLots = Math.max(usual, this.#now.minuteLots)
  }

  #widen(movedTicks: number): void {
    this.#now.gapTicks *= this.#gapKeep
    if (movedTicks === 0) return
    if (this.#random.next() >= WIDENING_PROBABILITY * Math.min(this.#wildness, 4)) return
    const gap = movedTicks * (0.2 + this.#random.next())
    this.#now.gapTicks = Math.min(gap, this.#ticks() * GAP_SHARE_MAX)
  }

  #show(ticks: number): void {
    const gap = Math.round(this.#now.gapTicks)
    this.quote.bidTicks = Math.max(1, Math.floor(ticks - gap / 2))
    this.quote.askTicks = this.quote.bidTicks + 1 + gap
    const keep = this.#sizeKeep
    const fresh = Math.sqrt((1 - keep * keep) * SIZE_LASTING_SHARE)
    const opposed = Math.sqrt(SIDES_OPPOSED) * this.#random.normal()
    const own = Math.sqrt(1 - SIDES_OPPOSED)
    this.#now.bidSize = keep * this.#now.bidSize + fresh * (opposed + own * this.#random.normal())
    this.#now.askSize = keep * this.#now.askSize + fresh * (own * this.#random.normal() - opposed)
    this.quote.bidLots = this.#displayedLots(this.#now.bidSize)
    this.quote.askLots = this.#displayedLots(this.#now.askSize)
  }

  #displayedLots(lasting: number): number {
    const level = lasting + Math.sqrt(1 - SIZE_LASTING_SHARE) * this.#random.normal()
    const median = DISPLAYED_NOTIONAL / (this.#now.price * this.#lot * Math.sqrt(this.#wildness))
    return Math.max(
      1,
      Math.round(median * exponential(SIZE_DEVIATION * clamp(level, SIZE_LEVEL_MAX))),
    )
  }

  #trade(moved: number): void {
    this.quote.tradedLots = 0
    const probability = moved === 0 ? this.#quietTradeProbability * Math.min(this.#wildness, 3) : 1
    if (probability < 1 && this.#random.next() >= probability) return
    const isBuy = moved === 0 ? this.#random.next() < 0.5 : moved > 0
    const factor = this.#wildness * (moved === 0 ? 1 : MOVE_TRADE_FACTOR)
    const notional =
      this.#tradeNotional * factor * exponential(TRADE_DEVIATION * this.#random.normal())
    this.quote.lastTicks = isBuy ? this.quote.askTicks : this.quote.bidTicks
    this.quote.tradedLots = Math.max(1, Math.round(notional / (this.#now.price * this.#lot)))
  }
}
