import { type StrategyId, toStrategyId } from '../../src/domain/ids.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type StopPolicy } from '../../src/engine/event.ts'
import { type Random, createRandom } from '../../src/lib/random.ts'
import { type CoreSettings } from '../../src/simulator/core/settings.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { type FaultRates, NO_FAULTS } from './virtual-faults.ts'
import { createLadder, createPlacer, createTargeter } from './virtual-strategies.ts'

/** How long faults last, virtual ms. */
const FAULTY_MS = 45_000

/** What a world is made of. Follows from its seed alone; a test may change any part of it. */
export interface WorldPlan {
  readonly seed: string
  readonly positionMode: PositionMode
  readonly symbols: readonly string[]
  readonly strategies: ReadonlyMap<
    StrategyId,
    { readonly strategy: Strategy; readonly symbols: readonly string[] }
  >
  readonly core: Partial<CoreSettings>
  readonly faults: FaultRates
  /** How many effects a process lives for, about; infinite for one that does not die. */
  readonly lifeEffects: number
  readonly skewMs: number
  readonly pageFills: number
  readonly onRestart: 'fence' | 'adopt'
  readonly stop: StopPolicy
  readonly faultyMs: number
  readonly moveTicks: number
  /** Whether a second core runs along and must say the same (DET1). */
  readonly hasTwin: boolean
}

/** Draws a world: which faults there are, how strong, which reading of the exchange, which strategies. */
export function planWorld(seed: string): WorldPlan {
  const random = createRandom(`${seed}/plan`)
  const positionMode = pick<PositionMode>(random, ['one_way_mode', 'hedge_mode'])
  const symbols = random.integer(3) === 0 ? ['BTCUSDT', 'ETHUSDT'] : ['BTCUSDT']
  const idempotency = pick<CoreSettings['idempotency']>(random, ['replay', 'duplicateError', 'pendingOnly'])
  return {
    seed,
    positionMode,
    symbols,
    strategies: planStrategies(random, seed, symbols),
    core: {
      idempotency,
      postOnlyCross: pick(random, ['reject', 'cancel']),
      cancelAllEmpty: pick(random, ['error', 'emptyLists']),
      fillVisibilityLagMs: pick(random, [0, 0, 150, 380]),
      matchingLagMs: pick(random, [0, 0, 100]),
    },
    faults: planFaults(random, idempotency),
    lifeEffects: random.integer(2) === 0 ? Number.POSITIVE_INFINITY : 300 + random.integer(3000),
    skewMs: random.integer(3) === 0 ? random.integer(20_000) - 10_000 : 0,
    pageFills: pick(random, [2, 5, 100]),
    onRestart: pick(random, ['fence', 'adopt']),
    stop: pick(random, ['cancel', 'leave', 'flatten']),
    faultyMs: FAULTY_MS,
    moveTicks: 1 + random.integer(8),
    hasTwin: random.integer(8) === 0,
  }
}

function planStrategies(random: Random, seed: string, symbols: readonly string[]): WorldPlan['strategies'] {
  const makers = [
    () => createLadder(`${seed}/ladder`, 1 + random.integer(8)),
    () => createTargeter(`${seed}/target`, 1 + random.integer(6)),
    () => createPlacer(`${seed}/place`, 1 + random.integer(5)),
  ]
  const count = 1 + random.integer(2)
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const strategy = (makers[random.integer(makers.length)] ?? createLadderOf)(seed)
      const own = index > 0 && random.integer(2) === 0 ? symbols.slice(0, 1) : symbols
      return [toStrategyId(`s${index}`), { strategy, symbols: own }] as const
    }),
  )
}

function createLadderOf(seed: string): Strategy {
  return createLadder(`${seed}/ladder`, 3)
}

/** Each kind of fault is there in every third world, mild or strong. */
function planFaults(random: Random, idempotency: CoreSettings['idempotency']): FaultRates {
  const isCalm = random.integer(10) === 0
  const rates: { -readonly [Fault in keyof FaultRates]: number } = { ...NO_FAULTS }
  for (const fault of Object.keys(rates) as (keyof FaultRates)[]) {
    const rate = pick(random, [0.01, 0.03, 0.1])
    const isThere = random.integer(3) === 0 && !isCalm
    if (isThere) rates[fault] = rate
  }
  // Where only open orders are remembered, a 429 that hides a success cannot be told from one that does not.
  return idempotency === 'pendingOnly' ? { ...rates, rateLimitedAfter: 0 } : rates
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[random.integer(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}
