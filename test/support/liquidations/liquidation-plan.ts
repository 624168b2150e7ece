import { type HoldSide } from '../../../src/domain/position.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { pick } from '../world/world-plan.ts'

export const LIQUIDATIONS = 'liquidations-'

export function numberOf(seed: string): number {
  return Number(seed.slice(LIQUIDATIONS.length))
}

const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'] as const
/** Margin, profit and fees in bitcoin. An account has one coin, so it has no other beside it. */
export const COIN_MARGINED = 'BTCUSD'
export type TradedSymbol = (typeof SYMBOLS)[number] | typeof COIN_MARGINED
const COIN_MARGINED_EVERY = 4

/** `ladder`: buys into falls · `trend`: adds while a price runs · `both`: adds to both sides. */
export const GREEDY_KINDS = ['ladder', 'trend', 'both'] as const
export type GreedyKind = (typeof GREEDY_KINDS)[number]

export interface MarketLeg {
  /** Shares of the price then. */
  readonly moves: Readonly<Record<string, number>>
  /** 0: a gap, without fills at prices between. */
  readonly overMs: number
  readonly restMs: number
}

export interface Greed {
  readonly kind: GreedyKind
  readonly share: number
  readonly larger: HoldSide
}

export interface LiquidationPlan {
  readonly seed: string
  readonly symbols: readonly TradedSymbol[]
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly leverage: number
  /** USDT, or as much in the coin. With the larger one positions reach beyond the first maintenance tiers. */
  readonly balance: number
  /** Whether resting orders count as filled before the move: `risk.survives.gap`. */
  readonly gap: boolean
  /** Largest move between two moments at which a reducing order could be filled. */
  readonly move: number
  /** Keyed by symbol: final position as a share of what the leverage allows. */
  readonly greed: Readonly<Record<string, Greed>>
  /** Whether strategies come as near to what is denied as lots allow; otherwise to a step of a twelfth. */
  readonly isFine: boolean
  readonly legs: readonly MarketLeg[]
  readonly fillModel: 'pessimistic' | 'default' | 'optimistic'
  /** Displayed size at each level, as a share of what the leverage allows. */
  readonly depth: number
  readonly fundingRate: number
  /** Start and duration of lost calls, or of no process; absent: never. */
  readonly silence?: {
    readonly kind: 'outage' | 'kill'
    readonly fromMs: number
    readonly forMs: number
  }
}

/** Time for strategies to build up before the first move. */
const CALM_MS = 35_000
/** Pause after a move: enough for two readings of a position, an order and its fill. */
const REST_MS = [10_000, 35_000] as const
/** With a move as large as a gap's over this time, there is time to act on the way. */
const SLIDE_MS = 60_000
const LEGS = 8

export function planLiquidation(seed: string): LiquidationPlan {
  const part = (name: string): Random => createRandom(`${seed}/${name}`)
  const isCoinMargined = part('coinMargined').integer(COIN_MARGINED_EVERY) === 0
  const symbols: readonly TradedSymbol[] = isCoinMargined
    ? [COIN_MARGINED]
    : SYMBOLS.slice(0, 1 + part('symbols').integer(3))
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
          larger: pick(part(`larger/${symbol}`), ['long', 'short'] as const),
        },
      ]),
    ),
    balance: pick(part('balance'), [10_000, 10_000, 200_000]),
    gap: part('gap').integer(3) > 0,
    isFine: part('isFine').integer(2) === 0,
    legs: drawLegs(part('legs'), symbols, move),
    fillModel: pick(part('fillModel'), ['pessimistic', 'default', 'optimistic']),
    depth: pick(part('depth'), [0.01, 0.05, 1]),
    fundingRate: pick(part('fundingRate'), [0.0001, 0.001, -0.001]),
  }
}

/** The same world, with a time without action longer than one move. */
export function withSilence(plan: LiquidationPlan): LiquidationPlan {
  const random = createRandom(`${plan.seed}/silence`)
  const fromMs = CALM_MS + random.integer(120_000)
  const kind = pick(random, ['outage', 'kill'] as const)
  const silence = { kind, fromMs, forMs: 60_000 + random.integer(60_000) }
  return { ...plan, silence }
}

/**
 * Runs of moves to one side, by the largest share or a part; prices move together or separately.
 */
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
    const size = move * pick(random, [0.5, 1, 1])
    legs.push({
      moves: Object.fromEntries(symbols.map((symbol) => [symbol, (sides[symbol] ?? 0) * size])),
      overMs: random.integer(3) === 0 ? SLIDE_MS : 0,
      restMs: REST_MS[0] + random.integer(REST_MS[1] - REST_MS[0]),
    })
  }
  return legs
}
