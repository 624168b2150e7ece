import { createRandom, type Random } from '../../../src/lib/random.ts'
import { pick } from '../world/world-plan.ts'

/** Seeds of worlds in which liquidations are looked for begin so. */
export const LIQUIDATIONS = 'liquidations-'

/** The number of a world, by its seed. */
export function numberOf(seed: string): number {
  return Number(seed.slice(LIQUIDATIONS.length))
}

const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'] as const
export type TradedSymbol = (typeof SYMBOLS)[number]

/** `ladder`: buys into falls · `trend`: adds while a price runs · `both`: adds to both sides. Each wants more than it has. */
export const GREEDY_KINDS = ['ladder', 'trend', 'both'] as const
export type GreedyKind = (typeof GREEDY_KINDS)[number]

/** A stretch of the market: a move of each price, at once or evenly over a time, and then a time in which they stand. */
export interface MarketLeg {
  /** Shares of the price then. */
  readonly moves: Readonly<Record<string, number>>
  /** 0: a gap, on whose way nothing is filled at prices between. */
  readonly overMs: number
  readonly restMs: number
}

export interface LiquidationPlan {
  readonly seed: string
  readonly symbols: readonly TradedSymbol[]
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly leverage: number
  /** The largest move between two moments at which a reducing order could be filled. */
  readonly move: number
  /** How much of what the leverage allows the strategy wants in the end, by symbol. */
  readonly greed: Readonly<Record<string, { readonly kind: GreedyKind; readonly share: number }>>
  /** Whether strategies come as near to what is denied as lots allow; otherwise to a step of a twelfth. */
  readonly isFine: boolean
  readonly legs: readonly MarketLeg[]
  readonly fillModel: 'pessimistic' | 'default' | 'optimistic'
  /** The share of what the leverage allows that is displayed at each level. */
  readonly depth: number
  /** The rate of a payment. */
  readonly fundingRate: number
  /** From so many ms after the beginning no call arrives, or there is no process, for so long. Absent: never. */
  readonly silence?: {
    readonly kind: 'outage' | 'kill'
    readonly fromMs: number
    readonly forMs: number
  }
}

/** Strategies build up for so long before the first move, ms. */
const CALM_MS = 35_000
/** After a move prices stand for so long, ms: enough for two readings of a position, an order and its fill. */
const REST_MS = [10_000, 35_000] as const
/** Over so long a move as large as that of a gap leaves time to act on the way, ms. */
const SLIDE_MS = 60_000
const LEGS = 8

export function planLiquidation(seed: string): LiquidationPlan {
  const part = (name: string): Random => createRandom(`${seed}/${name}`)
  const symbols = SYMBOLS.slice(0, 1 + part('symbols').integer(3))
  const move = pick(part('move'), [0.02, 0.04, 0.06, 0.1])
  return {
    seed,
    symbols,
    move,
    positionMode: pick(part('positionMode'), ['one_way_mode', 'hedge_mode']),
    leverage: pick(part('leverage'), [5, 10, 20, 35, 50]),
    greed: Object.fromEntries(
      symbols.map((symbol) => [
        symbol,
        {
          kind: pick(part(`kind/${symbol}`), GREEDY_KINDS),
          share: pick(part(`share/${symbol}`), [0.3, 0.6, 0.9]) / symbols.length,
        },
      ]),
    ),
    isFine: part('isFine').integer(2) === 0,
    legs: drawLegs(part('legs'), symbols, move),
    fillModel: pick(part('fillModel'), ['pessimistic', 'default', 'optimistic']),
    depth: pick(part('depth'), [0.01, 0.05, 1]),
    fundingRate: pick(part('fundingRate'), [0.0001, 0.001, -0.001]),
  }
}

/** The same world, in which nobody can act for longer than one move takes. */
export function withSilence(plan: LiquidationPlan): LiquidationPlan {
  const random = createRandom(`${plan.seed}/silence`)
  const fromMs = CALM_MS + random.integer(120_000)
  const kind = pick(random, ['outage', 'kill'] as const)
  const silence = { kind, fromMs, forMs: 60_000 + random.integer(60_000) }
  return { ...plan, silence }
}

/** Runs of moves to one side, each by the largest share or by a part of it; prices go together or each for itself. */
function drawLegs(random: Random, symbols: readonly string[], move: number): readonly MarketLeg[] {
  const legs: MarketLeg[] = [{ moves: {}, overMs: 0, restMs: CALM_MS }]
  let run = 0
  let sides: Readonly<Record<string, number>> = {}
  for (let leg = 0; leg < LEGS; leg++) {
    if (run === 0) {
      run = 1 + random.integer(5)
      const together = random.integer(3) > 0 ? (random.integer(3) > 0 ? -1 : 1) : 0
      sides = Object.fromEntries(
        symbols.map((symbol) => [symbol, together || random.integer(3) - 1]),
      )
    }
    run -= 1
    const size = move * pick(random, [0.5, 0.98, 0.98])
    legs.push({
      moves: Object.fromEntries(symbols.map((symbol) => [symbol, (sides[symbol] ?? 0) * size])),
      overMs: random.integer(3) === 0 ? SLIDE_MS : 0,
      restMs: REST_MS[0] + random.integer(REST_MS[1] - REST_MS[0]),
    })
  }
  return legs
}
