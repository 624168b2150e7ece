import {
  clamp,
  createRandom,
  exponential,
  logarithm,
  restoreRandom,
  type Random,
  type RandomState,
} from '../../../lib/random.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export interface VolatilityComponent {
  readonly deviation: number
  /** Market time after which a disturbance has faded to 1/e. */
  readonly memoryMs: number
}

export const SHARED_VOLATILITY: readonly VolatilityComponent[] = [
  { deviation: 0.25, memoryMs: 2 * MINUTE_MS },
  { deviation: 0.3, memoryMs: 60 * MINUTE_MS },
  { deviation: 0.3, memoryMs: 1440 * MINUTE_MS },
]

const VOLATILITY_UPDATE_MS = 1000

/**
 * ln(volatility) is a sum of Ornstein-Uhlenbeck components, which together decay as slowly as real
 * absolute returns.
 */
export class Volatility {
  readonly updateSteps: number
  readonly #components: readonly VolatilityComponent[]
  readonly #random: Random
  readonly #keep: number[]
  readonly #levels: number[]

  constructor(options: {
    readonly components: readonly VolatilityComponent[]
    readonly stepMs: number
    readonly random: Random
    readonly levels?: readonly number[] | undefined
  }) {
    const { components, stepMs, random, levels } = options
    this.updateSteps = Math.max(1, Math.round(VOLATILITY_UPDATE_MS / stepMs))
    const updateMs = this.updateSteps * stepMs
    this.#components = components
    this.#random = random
    this.#keep = components.map(({ memoryMs }) => exponential(-updateMs / memoryMs))
    this.#levels = components.map(
      ({ deviation }, index) => levels?.[index] ?? deviation * random.normal(),
    )
  }

  advance(push = 0, weight = 0): void {
    const own = Math.sqrt(1 - weight * weight)
    for (const [index, { deviation }] of this.#components.entries()) {
      const keep = this.#keep[index] as number
      const innovation = weight * push + own * this.#random.normal()
      const level = (this.#levels[index] as number) * keep
      this.#levels[index] = level + deviation * Math.sqrt(1 - keep * keep) * innovation
    }
  }

  /** Shifted so that the mean of volatility squared is 1. */
  level(): number {
    return this.#components.reduce(
      (sum, { deviation }, index) => sum + (this.#levels[index] as number) - deviation * deviation,
      0,
    )
  }

  state(): number[] {
    return [...this.#levels]
  }
}

/**
 * Real quotes are unchanged in 87 % of all 100 ms. A shock has fat tails (Student's t, 4 degrees of
 * freedom).
 */

/** Share of the variance that comes from jumps: 4 a day, double exponential. */
const JUMP_VARIANCE_SHARE = 0.06
const JUMPS_PER_DAY = 4

/** With coarse steps, a larger shock would be several per cent. */
const STUDENT_MAX = 12

export interface Shocks {
  draw(random: Random): number
  readonly probability: number
}

export function createShocks({ stepMs, perSecond }: { stepMs: number; perSecond: number }): Shocks {
  const probability = 1 - exponential((-perSecond * stepMs) / 1000)
  const jumpProbability = 1 - exponential((-JUMPS_PER_DAY * stepMs) / DAY_MS)
  const shockScale = Math.sqrt((1 - JUMP_VARIANCE_SHARE) / probability)
  const jumpScale = Math.sqrt(JUMP_VARIANCE_SHARE / jumpProbability)
  const draw = (random: Random): number => {
    const chance = random.next()
    const shock = chance < probability ? shockScale * drawStudent(random) : 0
    return chance >= 1 - jumpProbability ? shock + jumpScale * drawLaplace(random) : shock
  }
  return { probability, draw }
}

/** Scaled to variance 1: -2 ln(u v) is chi-square with 4 degrees. */
function drawStudent(random: Random): number {
  const chi = -logarithm((1 - random.next()) * (1 - random.next()))
  return clamp(random.normal() / Math.sqrt(Math.max(chi, 1e-9)), STUDENT_MAX)
}

function drawLaplace(random: Random): number {
  const size = -logarithm(1 - random.next()) / Math.SQRT2
  return random.next() < 0.5 ? -size : size
}

const LEVERAGE = -0.2

export interface FactorState {
  readonly random: RandomState
  readonly volatility: readonly number[]
  readonly shockSum: number
}

export class SharedFactor {
  shock = 0
  readonly #random: Random
  readonly #volatility: Volatility
  readonly #shocks: Shocks
  #shockSum: number

  constructor(options: {
    readonly seed: number | string
    readonly stepMs: number
    readonly state?: FactorState | undefined
  }) {
    const { seed, stepMs, state } = options
    this.#random = state ? restoreRandom(state.random) : createRandom(seed).fork('market')
    this.#volatility = new Volatility({
      components: SHARED_VOLATILITY,
      stepMs,
      random: this.#random,
      levels: state?.volatility,
    })
    this.#shocks = createShocks({ stepMs, perSecond: 0.8 })
    this.#shockSum = state?.shockSum ?? 0
  }

  get level(): number {
    return this.#volatility.level()
  }

  get shockProbability(): number {
    return this.#shocks.probability
  }

  step(index: number): void {
    const { updateSteps } = this.#volatility
    if (index % updateSteps === 0) {
      this.#volatility.advance(this.#shockSum / Math.sqrt(updateSteps), LEVERAGE)
      this.#shockSum = 0
    }
    this.shock = this.#shocks.draw(this.#random)
    this.#shockSum += this.shock
  }

  state(): FactorState {
    return {
      random: this.#random.state(),
      volatility: this.#volatility.state(),
      shockSum: this.#shockSum,
    }
  }
}
