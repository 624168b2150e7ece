import { type StrategyId, toStrategyId } from '../../src/domain/ids.ts'
import type { VirtualStrategy } from '../../src/backtest/backtest.ts'
import {
  defineStrategy,
  type InstrumentView,
  type Intent,
  type PlaceIntent,
  type QuoteLevel,
  type SnapshotView,
  z,
} from '../../src/strategy/contract.ts'

/** Of the orders asked for, the ladders' and the targets' share; the others are placed by name. */
const LADDER_SHARE = 0.1
const TARGET_SHARE = 0.05
/** No more often than this, ms: a ladder that moves costs a cancel-all, of which there is one a second. */
const LADDER_MS_MIN = 1000
const TARGET_MS_MIN = 500
const RUNGS = [4, 6, 8] as const
/** A ladder moves when the price has moved so far. */
const DRIFT_TICKS = 4
const LOTS = 10
const TARGET_LOTS = 30
/** Beyond this only the other side is traded. */
const HELD_LOTS_MAX = 500
/** Orders by name that are wanted at once are one batch. */
const BUNCH_MAX = 50
const BUNCH_MS = 500
/** In one decision, after a pause. */
const BUNCHES_MAX = 4
/** A name is dropped when its turn did not come in this time, ms. */
const TTL_MS = 2500
/** At the most that the limits let through, more is asked for by so much: some of it comes too late. */
const SURPLUS = 0.35
const LOAD_MAX = 250
/** Two of so many take, however small a batch is. */
const SLOTS_MIN = 10
/** Beyond this, and what is placed in some tenths of a second, what rests on an instrument is withdrawn. */
const RESTING_MIN = 30
/** Between two withdrawals on one instrument, ms. */
const CANCEL_EVERY_MS = 4000

/** A share of what strategies use of the time is measured apart. */
type Timed = <Result>(work: () => Result) => Result

/** Strategies that together want so many orders a second, of every kind that there is. */
export function createLoad(
  ordersPerSecond: number,
  timed: Timed,
): ReadonlyMap<StrategyId, VirtualStrategy> {
  const ladderMs = Math.max(
    LADDER_MS_MIN,
    (2 * RUNGS.length * 1000) / (ordersPerSecond * LADDER_SHARE),
  )
  const targetMs = Math.max(TARGET_MS_MIN, 1000 / (ordersPerSecond * TARGET_SHARE))
  const others = (2 * RUNGS.length * 1000) / ladderMs + 1000 / targetMs
  // In this order they fill a batch: what a cancel-all took away goes before what is new.
  const strategies = {
    target: defineTarget(targetMs, timed),
    ladder: defineLadder(ladderMs, timed),
    names: defineNames(
      (ordersPerSecond - others) * (1 + (SURPLUS * ordersPerSecond) / LOAD_MAX),
      timed,
    ),
  }
  return new Map(
    Object.entries(strategies).map(([id, strategy]) => [
      toStrategyId(id),
      { strategy, params: {} },
    ]),
  )
}

/** Orders under names that were never used: two of a batch may take, the others rest at a price of their own each. */
function defineNames(ordersPerSecond: number, timed: Timed): VirtualStrategy['strategy'] {
  const bunch = Math.max(1, Math.min(BUNCH_MAX, Math.ceil((ordersPerSecond * BUNCH_MS) / 1000)))
  const restingMax = RESTING_MIN + ordersPerSecond * 0.7
  return defineStrategy({
    name: 'names',
    params: z.object({}),
    initialState: () => ({ since: 0, made: 0, cancelledAt: 0 }),
    decide: (snapshot, { state }) =>
      timed(() => {
        const since = state.since || snapshot.takenAt
        const owed = Math.floor(((snapshot.takenAt - since) * ordersPerSecond) / 1000) - state.made
        const bunches = Math.min(BUNCHES_MAX, Math.floor(owed / bunch))
        const crowded = findCrowded(snapshot, state.cancelledAt, restingMax)
        const intents: Intent[] = crowded ? [crowded.cancelAll()] : []
        for (let index = 0; index < bunches; index++) {
          const turn = state.made / bunch + index
          // What was withdrawn is replaced at once.
          const market = (index === 0 && crowded) || takeTurn(snapshot, turn)
          const round = Math.floor(turn / snapshot.instruments.length)
          if (market)
            for (let place = 0; place < bunch; place++)
              intents.push(nameOrder(market, { turn, round, place, bunch }))
        }
        const cancelledAt = crowded ? snapshot.takenAt : state.cancelledAt
        return { intents, state: { since, made: state.made + bunches * bunch, cancelledAt } }
      }),
  })
}

function findCrowded(
  snapshot: SnapshotView,
  cancelledAt: number,
  restingMax: number,
): InstrumentView | undefined {
  if (snapshot.takenAt - cancelledAt < CANCEL_EVERY_MS / snapshot.instruments.length)
    return undefined
  return snapshot.instruments.find(
    ({ orders }) => orders.filter(({ state }) => state === 'live').length > restingMax,
  )
}

function takeTurn({ instruments }: SnapshotView, turn: number): InstrumentView | undefined {
  const market = instruments[Math.floor(turn) % instruments.length]
  return market?.hasPrices === true ? market : undefined
}

/** Bunches that follow each other on an instrument have no price in common: what waits of one fits into the next. */
function nameOrder(
  market: InstrumentView,
  { turn, round, place, bunch }: { turn: number; round: number; place: number; bunch: number },
): PlaceIntent {
  const number = turn * bunch + place
  const slot = number % Math.max(bunch, SLOTS_MIN)
  const isHeavy = Math.abs(market.netLots) > HELD_LOTS_MAX
  const taker = slot < 2 ? TAKERS[Math.floor(number / 2) % TAKERS.length] : undefined
  const isBuy = isHeavy && taker ? market.netLots < 0 : slot % 2 === 0
  const { away, force } = taker ?? {
    away: (slot >> 1) + (round % 2) * (bunch >> 1),
    force: 'post_only',
  }
  return market.place({
    key: String(number),
    action: isBuy ? 'openLong' : 'openShort',
    lots: LOTS + (number % 7),
    ticks: isBuy ? market.bidTicks - away : market.askTicks + away,
    force,
    ttlMs: TTL_MS,
  })
}

/**
 * What takes, or may: of a side one in a batch, since of a lost answer only what differs is found again. How far
 * from its own side of the market it is, in ticks: below zero it takes.
 */
const TAKERS = [
  { away: -4, force: 'ioc' },
  { away: -4, force: 'gtc' },
  { away: -4, force: 'ioc' },
  { away: 1, force: 'gtc' },
] as const

/** Rungs on both sides of the price, which follow it where it has moved furthest. */
function defineLadder(everyMs: number, timed: Timed): VirtualStrategy['strategy'] {
  return defineStrategy({
    name: 'ladder',
    params: z.object({}),
    initialState: (): LadderState => ({ movedAt: 0, middles: {} }),
    decide: (snapshot, { state }) =>
      timed(() => {
        const driftOf = ({ symbol, bidTicks }: InstrumentView) =>
          Math.abs(bidTicks - (state.middles[symbol] ?? 0))
        const [market] = snapshot.instruments.toSorted(
          (left, right) => driftOf(right) - driftOf(left),
        )
        const isEarly = snapshot.takenAt - state.movedAt < everyMs
        if (isEarly || market?.hasPrices !== true || driftOf(market) < DRIFT_TICKS)
          return { intents: [], state }
        const middles = { ...state.middles, [market.symbol]: market.bidTicks }
        return {
          intents: [market.quote(levelsOf(market))],
          state: { movedAt: snapshot.takenAt, middles },
        }
      }),
  })
}

interface LadderState {
  readonly movedAt: number
  /** Where the ladder of a symbol stands, in ticks. */
  readonly middles: Readonly<Record<string, number>>
}

function levelsOf({ bidTicks, askTicks, netLots }: InstrumentView): readonly QuoteLevel[] {
  return RUNGS.flatMap((away): QuoteLevel[] => [
    ...(netLots < HELD_LOTS_MAX
      ? [{ side: 'buy', ticks: bidTicks - away, lots: LOTS } as const]
      : []),
    ...(netLots > -HELD_LOTS_MAX
      ? [{ side: 'sell', ticks: askTicks + away, lots: LOTS } as const]
      : []),
  ])
}

/** Long and short in turn, on one instrument after the other. */
function defineTarget(everyMs: number, timed: Timed): VirtualStrategy['strategy'] {
  return defineStrategy({
    name: 'target',
    params: z.object({}),
    initialState: () => ({ turn: 0 }),
    decide: (snapshot, { state }) =>
      timed(() => {
        const turn = Math.floor(snapshot.takenAt / everyMs)
        const market = turn === state.turn ? undefined : takeTurn(snapshot, turn)
        if (!market) return { intents: [], state }
        const isLong = Math.floor(turn / snapshot.instruments.length) % 2 === 0
        return { intents: [market.target(isLong ? TARGET_LOTS : -TARGET_LOTS)], state: { turn } }
      }),
  })
}
