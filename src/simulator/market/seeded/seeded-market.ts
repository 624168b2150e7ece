/**
 * Each instrument has a random stream besides the shared one, so that an added instrument changes
 * no other path. test/simulator/market/realism.test.ts compares with real prices.
 */
import {
  invalidOption,
  type Market,
  type MarketInstrument,
  type StoredMarketState,
  type MarketStep,
  type MutableStep,
  ownState,
  STEPS_PER_ADVANCE_MAX,
} from '../market.ts'
import { type FactorState, SharedFactor } from './moves.ts'
import { buildPastDay, SeededPast } from './past-day.ts'
import { type SeededPathState, SeededPath } from './seeded-path.ts'

export interface SeededMarketOptions {
  readonly seed: number | string
  readonly instruments: readonly MarketInstrument[]
  readonly startAt: number
  readonly stepMs?: number
  /** Market time for each ms of the exchange's clock; default 1. */
  readonly speed?: number
}

export interface SeededMarketState extends StoredMarketState {
  readonly startAt: number
  readonly stepsDone: number
  readonly factor: FactorState
  readonly paths: Readonly<Record<string, SeededPathState>>
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
   * Continues from a stored state, whose `startAt` then applies. A new instrument starts at its
   * start price; one that is no longer configured is dropped.
   * @throws Failure MARKET_OPTION_INVALID
   */
  constructor(options: SeededMarketOptions, stored?: StoredMarketState) {
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
