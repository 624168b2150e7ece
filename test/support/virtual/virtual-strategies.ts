import { createRandom, type Random } from '../../../src/lib/random.ts'
import {
  defineStrategy,
  type Intent,
  type InstrumentView,
  type PlaceIntent,
  type QuoteLevel,
  type SnapshotView,
  type Strategy,
  z,
} from '../../../src/strategy/contract.ts'

interface StrategyState {
  readonly decisions: number
}

type Script = (view: InstrumentView, random: Random, decision: number) => Intent[]

export const STRATEGY_KINDS = ['ladder', 'targeter', 'placer'] as const

export interface ScriptedStrategyOptions {
  readonly kind: (typeof STRATEGY_KINDS)[number]
  /** Called at each decision: another process may decide otherwise. */
  readonly seed: () => string
  /** Maximum levels of a ladder, or lots of a target or an order. */
  readonly size: number
  /** Decisions (from 0) on which it acts; absent: all. */
  readonly decisions?: readonly number[] | undefined
  /** It acts on every so many decisions; absent: on each. */
  readonly every?: number | undefined
  /** One in this many orders by name has an old name; absent: none. */
  readonly oldKeys?: number | undefined
}

/**
 * Wishes follow from seed, instrument and number of decisions, so a decision or instrument less
 * changes nothing else.
 */
export function createScriptedStrategy({
  kind,
  seed,
  size,
  decisions,
  every = 1,
  oldKeys,
}: ScriptedStrategyOptions): Strategy {
  const script = SCRIPTS[kind](size)
  const speaksOn = decisions && new Set(decisions)
  return defineStrategy({
    name: kind,
    params: z.strictObject({}),
    initialState: (): StrategyState => ({ decisions: 0 }),
    decide(snapshot: SnapshotView, { state }) {
      const decision = state.decisions
      const speaks = decision % every === 0 && (speaksOn?.has(decision) ?? true)
      const views = speaks ? snapshot.instruments.filter((view) => view.hasPrices) : []
      const intents = views.flatMap((view) =>
        script(view, createRandom(`${seed()}/${view.symbol}/${decision}`), decision).map((intent) =>
          oldKeys === undefined
            ? intent
            : withOldKey(intent, createRandom(`${seed()}/${view.symbol}/${decision}/key`), {
                decision,
                oldKeys,
              }),
        ),
      )
      return { intents, state: { decisions: decision + 1 } }
    },
  })
}

const SCRIPTS: Readonly<Record<ScriptedStrategyOptions['kind'], (size: number) => Script>> = {
  ladder: ladderOf,
  targeter: targeterOf,
  placer: placerOf,
}

function ladderOf(levelsMax: number): Script {
  return (view, random, decision) => {
    if (decision % 7 !== 0 && random.integer(4) > 0) return []
    if (random.integer(15) === 0)
      return [random.integer(2) === 0 ? view.cancelAll() : view.quote([])]
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
  }
}

function targeterOf(lotsMax: number): Script {
  return (view, random, decision) => {
    if (decision % 5 !== 0 && random.integer(6) > 0) return []
    return [view.target(random.integer(4) === 0 ? 0 : random.integer(2 * lotsMax + 1) - lotsMax)]
  }
}

/** Places orders of every kind by name, sometimes reuses a name, and sometimes cleans up. */
function placerOf(lotsMax: number): Script {
  return (view, random, decision) => {
    if (random.integer(3) > 0) return []
    if (random.integer(25) === 0) return [view.cancelAll()]
    const isAgain = random.integer(12) === 0 && decision > 0
    const key = `p:${view.symbol}:${isAgain ? decision - 1 - random.integer(Math.min(3, decision)) : decision}`
    return [view.place({ key, ...randomOrder(view, random, lotsMax) })]
  }
}

/** Uses an old name: the daemon has forgotten the order, but not the name. */
function withOldKey(
  intent: Intent,
  random: Random,
  { decision, oldKeys }: { readonly decision: number; readonly oldKeys: number },
): Intent {
  if (intent.kind !== 'place' || decision === 0 || random.integer(oldKeys) > 0) return intent
  return { ...intent, key: `p:${intent.symbol}:${random.integer(decision)}` }
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
