import { createRandom, type Random } from '../../src/lib/random.ts'
import {
  defineStrategy,
  type Intent,
  type InstrumentView,
  type PlaceIntent,
  type QuoteLevel,
  type SnapshotView,
  type Strategy,
  z,
} from '../../src/strategy/contract.ts'

interface Counted {
  readonly decisions: number
  readonly placed: number
}

type Script = (view: InstrumentView, random: Random, state: Counted) => Intent[]

/** A strategy that follows a script, with random numbers that depend on its seed and how often it decided. */
function scripted(name: string, seed: string, script: Script): Strategy {
  return defineStrategy({
    name,
    params: z.strictObject({}),
    initialState: (): Counted => ({ decisions: 0, placed: 0 }),
    decide(snapshot: SnapshotView, { state }) {
      const random = createRandom(`${seed}/${state.decisions}`)
      const intents = snapshot.instruments
        .filter((view) => view.hasPrices)
        .flatMap((view) => script(view, random, state))
      const places = intents.filter(({ kind }) => kind === 'place').length
      return { intents, state: { decisions: state.decisions + 1, placed: state.placed + places } }
    },
  })
}

/** A ladder round the market that now and then moves, shrinks, crosses, or is taken away. */
export function createLadder(seed: string, levelsMax: number): Strategy {
  return scripted('ladder', seed, (view, random, { decisions }) => {
    if (decisions % 7 !== 0 && random.integer(4) > 0) return []
    if (random.integer(15) === 0) return [random.integer(2) === 0 ? view.cancelAll() : view.quote([])]
    const levels: QuoteLevel[] = []
    const count = 1 + random.integer(levelsMax)
    const gap = 1 + random.integer(8)
    const start = random.integer(12) - (random.integer(20) === 0 ? 15 : 0)
    for (let level = 0; level < count; level++) {
      const lots = 1 + random.integer(3)
      levels.push({ side: 'buy', ticks: view.bidTicks - start - level * gap, lots })
      levels.push({ side: 'sell', ticks: view.askTicks + start + level * gap, lots })
    }
    return [view.quote(levels)]
  })
}

/** Wants another position every now and then: flat, a little, or the other way. */
export function createTargeter(seed: string, lotsMax: number): Strategy {
  return scripted('targeter', seed, (view, random, { decisions }) => {
    if (decisions % 5 !== 0 && random.integer(6) > 0) return []
    return [view.target(random.integer(4) === 0 ? 0 : random.integer(2 * lotsMax + 1) - lotsMax)]
  })
}

/** Places orders of every kind by name, uses a name twice now and then, and cleans up now and then. */
export function createPlacer(seed: string, lotsMax: number): Strategy {
  return scripted('placer', seed, (view, random, { decisions, placed }) => {
    if (random.integer(3) > 0) return []
    if (random.integer(25) === 0) return [view.cancelAll()]
    const again = random.integer(12) === 0 && placed > 0
    const key = again ? `p:${placed - 1}:0` : `p:${placed}:${decisions % 1}`
    return [view.place({ key, ...randomOrder(view, random, lotsMax) })]
  })
}

function randomOrder(
  view: InstrumentView,
  random: Random,
  lotsMax: number,
): Omit<PlaceIntent, 'kind' | 'symbol' | 'key'> {
  const action = pick(random, ['openLong', 'closeLong', 'openShort', 'closeShort'] as const)
  const lots = 1 + random.integer(lotsMax)
  const ttl = random.integer(3) === 0 ? { ttlMs: 200 + random.integer(8000) } : {}
  if (random.integer(4) === 0) return { action, lots, ...ttl }
  const force = pick(random, ['gtc', 'gtc', 'ioc', 'fok', 'post_only'] as const)
  const buys = action === 'openLong' || action === 'closeShort'
  const away = force === 'ioc' || force === 'fok' ? -10 : random.integer(30) - 5
  const ticks = buys ? view.bidTicks - away : view.askTicks + away
  return { action, lots, ticks, force, ...ttl }
}

function pick<Value>(random: Random, values: readonly [Value, ...Value[]]): Value {
  return values[random.integer(values.length)] ?? values[0]
}
