/**
 * Volatility that clusters: its logarithm is a sum of mean-reverting (Ornstein-Uhlenbeck) components with
 * memories from minutes to a day, which together decay as slowly as the absolute returns of real markets.
 */
import { exponential, type Random } from '../../../lib/random.ts'

export interface VolatilityComponent {
  /** Standard deviation of the component of ln(volatility). */
  readonly deviation: number
  /** Market time after which a disturbance has faded to 1/e. */
  readonly memoryMs: number
}

export class Volatility {
  readonly #components: readonly VolatilityComponent[]
  readonly #keep: number[]
  readonly #levels: number[]

  /** @param levels A stored state; without one the components are drawn from where they usually are. */
  constructor(options: {
    readonly components: readonly VolatilityComponent[]
    /** Market time between two calls of `advance`. */
    readonly updateMs: number
    readonly random: Random
    readonly levels?: readonly number[]
  }) {
    const { components, updateMs, random, levels } = options
    this.#components = components
    this.#keep = components.map(({ memoryMs }) => exponential(-updateMs / memoryMs))
    this.#levels = components.map(({ deviation }, index) => levels?.[index] ?? deviation * random.normal())
  }

  /**
   * One update of all components.
   * @param push The part of the disturbance that comes from elsewhere, standard deviation about 1.
   * @param weight Its correlation with the disturbance, -1..1.
   */
  advance(random: Random, push = 0, weight = 0): void {
    const own = Math.sqrt(1 - weight * weight)
    for (const [index, { deviation }] of this.#components.entries()) {
      const keep = this.#keep[index] as number
      const innovation = weight * push + own * random.normal()
      const level = (this.#levels[index] as number) * keep
      this.#levels[index] = level + deviation * Math.sqrt(1 - keep * keep) * innovation
    }
  }

  /** ln(volatility), shifted so that the mean of volatility squared is 1. */
  level(): number {
    let sum = 0
    for (const [index, { deviation }] of this.#components.entries()) {
      sum += (this.#levels[index] as number) - deviation * deviation
    }
    return sum
  }

  state(): number[] {
    return [...this.#levels]
  }
}
