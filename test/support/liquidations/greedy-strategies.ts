import {
  defineStrategy,
  type InstrumentView,
  type Intent,
  type SnapshotView,
  type Strategy,
  z,
} from '../../../src/strategy/contract.ts'
import { type HoldSide } from '../../../src/domain/position.ts'
import { type GreedyKind } from './liquidation-plan.ts'

interface GreedyState {
  readonly decisions: number
  /** The price of some decisions ago. */
  readonly before: number
  /** Lots at its last action, and that action's step. */
  readonly held: number
  readonly step: number
}

/** The largest step, as a share of all that it wants. */
const STEPS = 12
const EVERY = 3
const RUNGS = 5
/** Distance of a ladder's rungs, as a share of the price. */
const RUNG_GAP = 0.006

export interface GreedyStrategyOptions {
  readonly kind: GreedyKind
  /** Of both sides, where it adds to both in hedge mode. */
  readonly larger: HoldSide
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly lotsMax: number
  /**
   * Whether it takes half a step after one that led to nothing, and twice the step after one that
   * did. So it comes as near to what is denied as lots allow.
   */
  readonly isFine: boolean
}

export function createGreedyStrategy({
  kind,
  larger,
  positionMode,
  lotsMax,
  isFine,
}: GreedyStrategyOptions): Strategy {
  const stepMax = Math.max(1, Math.round(lotsMax / STEPS))
  const stepAfter = ({ step, held }: GreedyState, heldNow: number): number => {
    if (!isFine) return stepMax
    return heldNow === held ? Math.max(1, Math.floor(step / 2)) : Math.min(stepMax, step * 2)
  }
  const say = (view: InstrumentView, state: GreedyState): Intent[] => {
    const { step } = state
    if (kind === 'ladder') return [buysBelow(view, step, lotsMax)]
    if (kind === 'trend') return [view.target(addWithTrend(view, state, { step, lotsMax }))]
    return positionMode === 'hedge_mode'
      ? addToBoth(view, state, { step, lotsMax, larger })
      : [quoteBoth(view, step, lotsMax)]
  }
  return defineStrategy({
    name: kind,
    params: z.strictObject({}),
    initialState: (): GreedyState => ({ decisions: 0, before: 0, held: -1, step: stepMax }),
    decide(snapshot: SnapshotView, { state }) {
      const [view] = snapshot.instruments
      const { decisions } = state
      const speaks = decisions % EVERY === 0 && view?.hasPrices === true
      const before = decisions % (EVERY * 5) === 0 ? (view?.bid ?? 0) : state.before
      const held = speaks ? view.longLots + view.shortLots : state.held
      const step = speaks ? stepAfter(state, held) : state.step
      return {
        intents: speaks ? say(view, { ...state, step }) : [],
        state: { decisions: decisions + 1, before, held, step },
      }
    },
  })
}

interface Appetite {
  readonly step: number
  readonly lotsMax: number
}

/** Buys at ever lower prices, with one market order. */
function buysBelow(view: InstrumentView, step: number, lotsMax: number): Intent {
  const left = lotsMax - view.longLots
  const rungs = Math.min(RUNGS, Math.ceil(left / step))
  return view.quote(
    Array.from({ length: Math.max(0, rungs) }, (_, rung) => ({
      side: 'buy' as const,
      ticks: Math.max(1, view.ticksBelow(view.bid * (1 - RUNG_GAP * rung))),
      lots: step,
    })),
  )
}

function addWithTrend(
  view: InstrumentView,
  { before }: GreedyState,
  { step, lotsMax }: Appetite,
): number {
  const side = view.bid >= before ? 1 : -1
  const wanted = view.netLots + side * step
  return Math.max(-lotsMax, Math.min(lotsMax, wanted))
}

function addToBoth(
  view: InstrumentView,
  { decisions }: GreedyState,
  { step, lotsMax, larger }: Appetite & { readonly larger: HoldSide },
): Intent[] {
  const side = decisions % (2 * EVERY) === 0 ? 'long' : 'short'
  const held = side === 'long' ? view.longLots : view.shortLots
  // One side is larger, so that a fall or rise matters.
  const wanted = side === larger ? lotsMax : lotsMax / 3
  if (held + step > wanted) return []
  const action = side === 'long' ? 'openLong' : 'openShort'
  return [view.place({ key: `add ${decisions}`, action, lots: step })]
}

function quoteBoth(view: InstrumentView, step: number, lotsMax: number): Intent {
  const levels = Array.from({ length: RUNGS }, (_, rung) => {
    const away = RUNG_GAP * rung
    return [
      { side: 'buy' as const, ticks: view.ticksBelow(view.bid * (1 - away)), lots: step },
      { side: 'sell' as const, ticks: view.ticksAbove(view.ask * (1 + away)), lots: step },
    ]
  }).flat()
  return view.quote(
    levels.filter(({ side }) =>
      side === 'buy' ? view.netLots < lotsMax : view.netLots > -lotsMax,
    ),
  )
}
