/** What all instruments have in common: the shocks that reach each of them, and a volatility they share. */
import { createRandom, restoreRandom, type Random } from '../../../lib/random.ts'
import type { FactorState } from '../market-state.ts'
import { createShocks, type Shocks } from './shocks.ts'
import { Volatility } from './volatility.ts'

const MINUTE_MS = 60_000

/** Fitted to the decay of absolute 1-minute returns (see seeded-market.ts). */
export const SHARED_VOLATILITY = [
  { deviation: 0.25, memoryMs: 2 * MINUTE_MS },
  { deviation: 0.3, memoryMs: 60 * MINUTE_MS },
  { deviation: 0.3, memoryMs: 1440 * MINUTE_MS },
]

/** Correlation of a second's return and the change of volatility: markets are wilder when they fall. */
const LEVERAGE = -0.2

/** Volatility moves on once a second: it changes over minutes. */
const VOLATILITY_UPDATE_MS = 1000

/** Steps between two updates of the volatilities, and the market time they take. */
export function volatilityUpdate(stepMs: number): { steps: number; ms: number } {
  const steps = Math.max(1, Math.round(VOLATILITY_UPDATE_MS / stepMs))
  return { steps, ms: steps * stepMs }
}

export class SharedFactor {
  /** This step's shock: 0 mostly; mean 0, variance 1. */
  shock = 0
  /** ln(volatility) that all instruments share. */
  level = 0
  readonly #random: Random
  readonly #volatility: Volatility
  readonly #shocks: Shocks
  readonly #updateSteps: number
  #shockSum = 0

  /** @param stepMs Market time of one step. */
  constructor({ seed, stepMs, state }: { seed: number | string; stepMs: number; state?: FactorState }) {
    const update = volatilityUpdate(stepMs)
    this.#updateSteps = update.steps
    this.#random = state ? restoreRandom(state.random) : createRandom(seed).fork('market')
    this.#volatility = new Volatility({
      components: SHARED_VOLATILITY,
      updateMs: update.ms,
      random: this.#random,
      ...(state && { levels: state.volatility }),
    })
    this.#shocks = createShocks({ stepMs, perSecond: 0.8 })
    this.#shockSum = state?.shockSum ?? 0
    this.level = this.#volatility.level()
  }

  get shockProbability(): number {
    return this.#shocks.probability
  }

  /** @param index The number of the step since the start, from 0. */
  step(index: number): void {
    if (index % this.#updateSteps === 0) {
      this.#volatility.advance(this.#random, this.#shockSum / Math.sqrt(this.#updateSteps), LEVERAGE)
      this.level = this.#volatility.level()
      this.#shockSum = 0
    }
    this.shock = this.#shocks.draw(this.#random)
    this.#shockSum += this.shock
  }

  state(): FactorState {
    return { random: this.#random.state(), volatility: this.#volatility.state(), shockSum: this.#shockSum }
  }
}
