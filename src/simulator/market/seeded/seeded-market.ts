/**
 * A seeded market that moves like a real one. Every instrument has its own stream of random numbers
 * besides the shared one, so an added instrument does not change the other paths.
 *
 * How realistic it is, measured over 21 days of 100 ms steps (seed 1) beside one-minute candles of
 * the BTC and ETH perpetuals (29 May to 19 June 2025) and ten minutes of 100 ms quotes of BTC and
 * ETH spot (8 August 2024):
 *
 *   one-minute returns                    seeded BTC, ETH         real BTC, ETH
 *   volatility of a year                  0.63, 0.67              0.33, 0.62
 *   kurtosis (normal is 3)                15, 12                  11, 20
 *   kurtosis of hourly returns            11, 4.4                 6.2, 11
 *   autocorrelation of returns, lag 1     -0.01, 0.00             -0.01, -0.02
 *   of absolute returns, lag 1            0.27, 0.27              0.27, 0.26
 *     lag 5, 15                           0.21, 0.17              0.21, 0.18
 *     lag 60, 240                         0.12, 0.04              0.14, 0.08
 *   return with next absolute return      -0.05, -0.04            -0.03, -0.06
 *   range / |close - open|                1.80                    1.57, 1.85
 *   BTC with ETH: returns, absolute       0.77, 0.65              0.77, 0.67
 *   ln(volume): deviation, lag 1, lag 60  0.85, 0.64, 0.28        1.16, 0.64, 0.31
 *
 *   100 ms quotes
 *   middle unchanged                      0.87, 0.88              0.87, 0.85
 *   spread of one tick                    0.995, 0.997            0.991, 0.992
 *   ln(bid size): deviation               1.46, 1.51              1.53, 1.39
 *     autocorrelation, lag 1, 5, 10       0.75, 0.51, 0.33        0.75, 0.44, 0.22
 *   ln(bid size) with ln(ask size)        -0.37                   -0.43
 *   kurtosis of the middle's returns      128, 249                244, 28
 *
 * Two features are left out: the hours of the day, and that a real quote which moves often moves
 * again within 100 ms (autocorrelation of absolute 100 ms returns 0.1 to 0.2, here 0.01).
 */
import {
  invalidOption,
  type Market,
  type MarketInstrument,
  type MarketState,
  type MarketStep,
  type MutableStep,
  ownState,
  STEPS_PER_ADVANCE_MAX,
} from '../market.ts'
import { type FactorState, SharedFactor } from './moves.ts'
import { buildPastDay, SeededPast } from './past-day.ts'
import { type PathState, SeededPath } from './seeded-path.ts'

export interface SeededMarketOptions {
  readonly seed: number | string
  readonly instruments: readonly MarketInstrument[]
  /** Time of the first step, Unix ms. */
  readonly startAt: number
  /** Time between two steps on the exchange's clock, ms; default 100. */
  readonly stepMs?: number
  /** Market time for each millisecond of the exchange's clock, ms; default 1. */
  readonly speed?: number
}

export interface SeededMarketState extends MarketState {
  readonly startAt: number
  readonly stepsDone: number
  readonly factor: FactorState
  readonly paths: Readonly<Record<string, PathState>>
}

export class SeededMarket implements Market {
  readonly identity: string
  readonly speed: number
  readonly endsAt = undefined
  readonly #options: SeededMarketOptions
  readonly #startAt: number
  readonly #stepMs: number
  readonly #factor: SharedFactor
  readonly #paths: readonly SeededPath[]
  readonly #steps: readonly MutableStep[]
  #stepsDone: number

  /**
   * Continues from a stored state, whose `startAt` then applies. An instrument missing in it starts
   * now at its start price; one that is no longer configured is dropped.
   *
   * @param stored A state of any market.
   * @throws Failure MARKET_OPTION_INVALID
   */
  constructor(options: SeededMarketOptions, stored?: MarketState) {
    const { seed, instruments, stepMs = 100, speed = 1 } = options
    assertOptions({ ...options, stepMs, speed })
    this.#options = options
    this.identity = `seeded:${seed}:${stepMs}ms:x${speed}`
    this.speed = speed
    const state = ownState<SeededMarketState>(this.identity, stored)
    this.#startAt = state?.startAt ?? options.startAt
    this.#stepMs = stepMs
    this.#stepsDone = state?.stepsDone ?? 0
    const factor = new SharedFactor({ seed, stepMs: stepMs * speed, state: state?.factor })
    this.#factor = factor
    this.#paths = instruments.map((instrument) => {
      const own = state?.paths[instrument.symbol]
      const path = new SeededPath({ instrument, seed, stepMs: stepMs * speed, factor, state: own })
      if (!own) path.open()
      return path
    })
    this.#steps = this.#paths.map(({ symbol, quote }) => ({ at: 0, symbol, quote }))
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    const count = this.#paths.length
    for (let visited = 0; this.nextAt <= now; visited += count) {
      if (visited > 0 && visited + count > STEPS_PER_ADVANCE_MAX) return false
      const at = this.nextAt
      this.#step()
      for (const step of this.#steps) {
        step.at = at
        visit(step)
      }
    }
    return true
  }

  /** Time of the next step on the exchange's clock; infinite without instruments. */
  get nextAt(): number {
    if (this.#paths.length === 0) return Number.POSITIVE_INFINITY
    return this.#startAt + this.#stepsDone * this.#stepMs
  }

  pastDay(symbol: string) {
    const { seed, instruments } = this.#options
    const instrument = instruments.find((one) => one.symbol === symbol)
    return instrument && buildPastDay({ seed, instrument, endAt: this.#startAt })
  }

  past(symbol: string) {
    const { seed, instruments } = this.#options
    const instrument = instruments.find((one) => one.symbol === symbol)
    return instrument && new SeededPast({ seed, instrument, endAt: this.#startAt })
  }

  state(): SeededMarketState {
    return {
      identity: this.identity,
      startAt: this.#startAt,
      stepsDone: this.#stepsDone,
      factor: this.#factor.state(),
      paths: Object.fromEntries(this.#paths.map((path) => [path.symbol, path.state()])),
    }
  }

  /** The first step shows the start price; every later one moves it. */
  #step(): void {
    const index = this.#stepsDone++
    if (index === 0) return
    this.#factor.step(index)
    for (const path of this.#paths) path.step(index, this.#factor)
  }
}

function assertOptions({
  startAt,
  speed,
  stepMs,
  instruments,
}: Required<SeededMarketOptions>): void {
  if (!(speed > 0 && speed <= 10_000))
    throw invalidOption('speed', speed, 'a number above 0, up to 10000')
  if (!Number.isSafeInteger(startAt))
    throw invalidOption('startAt', startAt, 'a whole number of Unix ms')
  if (!Number.isInteger(stepMs) || stepMs < 1)
    throw invalidOption('stepMs', stepMs, 'a whole number of ms')
  for (const { symbol, startPrice } of instruments) {
    if (!(Number(startPrice) > 0))
      throw invalidOption(`${symbol} startPrice`, startPrice, 'a positive price')
  }
  const symbols = instruments.map(({ symbol }) => symbol)
  const twice = symbols.find((symbol, index) => symbols.indexOf(symbol) !== index)
  if (twice !== undefined) throw invalidOption('instruments', twice, 'each symbol once')
}
