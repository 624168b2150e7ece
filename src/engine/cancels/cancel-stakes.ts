import { type CancelTiming, type LaneStakes, type Stake } from '../../execution/cancel-cost.ts'
import { type Denial, type DenialCode } from '../../domain/denial.ts'
import { type OrderIntent } from '../../domain/intent.ts'
import { canRest, openLots, type Order } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { cancelAllOrders } from '../../protocol/futures/cancel-all-orders.ts'
import { notionalAt } from '../../risk/exposure.ts'
import { approveLane, type ApprovedLane } from '../planning/approve-instrument.ts'
import { openOrdersOf } from '../book/book.ts'
import { type Core, instrumentOf } from '../state/core.ts'
import { type Fence, type Lane } from '../state/instrument-state.ts'
import { marketOf } from '../state/market-view.ts'
import { type LanePlan, planLane } from '../planning/plan-instrument.ts'

/** From one cancel-all to the next, as the document allows them to an ordinary account. */
const SLOT_MS = cancelAllOrders.limit.perMs / cancelAllOrders.limit.calls
/** The calls of a cancel-all, its readings and the batch that follows, there and back, on a good day. */
const CALLS_MS = 300
/** A fence that has waited for its call this long goes before those that have more to lose. */
const STARVED_MS = 10_000

/** Denials that end when the unwanted orders are gone: until then these take up the room. */
const ROOM: ReadonlySet<DenialCode> = new Set(['POSITION_LIMIT', 'GROSS_NOTIONAL_LIMIT', 'OPEN_ORDERS_LIMIT'])

export function timingOf(core: Core): CancelTiming {
  const { fillVisibilityMs } = core.settings.execution
  return {
    waitMs: Math.max(0, core.cancelSentAt + SLOT_MS - core.now),
    slotMs: SLOT_MS,
    outageMs: fillVisibilityMs + CALLS_MS,
  }
}

/** What is at stake on an instrument as it stands now. */
export function stakesNow(core: Core, lane: Lane): LaneStakes {
  const plan = planLane(core, lane)
  const weighs = plan.unwanted.some((order) => isWeighed(core, lane, order))
  return buildStakes(core, lane, plan, weighs ? approveLane(core, lane, plan.candidates) : undefined)
}

/** `approved`: what risk made of the plan's candidates, where that matters. */
export function buildStakes(
  core: Core,
  lane: Lane,
  plan: LanePlan,
  approved: ApprovedLane | undefined,
): LaneStakes {
  const unwanted = plan.unwanted.filter((order) => isWeighed(core, lane, order))
  const ages = unwanted.map((order) => unwantedForMs(core, lane, order))
  const wanted = new Set(approved?.items.map(({ intent }) => intent.key))
  const rests = plan.candidates.map(({ intent }) => intent).filter(canRest)
  const toStake = (intent: OrderIntent, ageMs: number): Stake => stakeOf(core, { ...intent, ageMs })
  return {
    symbol: lane.symbol,
    rank: lane.fence && rankOf(core, lane.fence),
    isPlacing: lane.state === 'placing',
    unwanted: [
      ...unwanted.map((order, index) => toOrderStake(core, order, ages[index] ?? 0)),
      ...unknownStakes(core, lane),
    ],
    survivors: survivorsOf(core, lane, plan).map((order) =>
      toOrderStake(core, order, Math.max(0, core.now - order.acceptedAt)),
    ),
    missing: rests.filter(({ key }) => wanted.has(key)).map((intent) => toStake(intent, 0)),
    blocked: lacksRoom(approved?.denials ?? [])
      ? rests.filter(({ key }) => !wanted.has(key)).map((intent) => toStake(intent, Math.max(0, ...ages)))
      : [],
  }
}

/** What rests and is wanted: a cancel-all takes it too. */
function survivorsOf(core: Core, lane: Lane, plan: LanePlan): readonly Order[] {
  if (core.mode !== 'running') return []
  return [...openOrdersOf(core.book, lane.symbol)].filter(
    (order) => order.state === 'live' && canRest(order.terms) && !plan.unwanted.includes(order),
  )
}

/** Keeps since when each order has been unwanted. */
export function noteUnwanted(core: Core, lane: Lane, unwanted: readonly Order[]): void {
  const present = new Set(unwanted.map(({ terms }) => terms.clientOid))
  for (const clientOid of lane.unwantedSince.keys()) {
    if (!present.has(clientOid)) lane.unwantedSince.delete(clientOid)
  }
  for (const clientOid of present) {
    if (!lane.unwantedSince.has(clientOid)) lane.unwantedSince.set(clientOid, core.now)
  }
}

export function unwantedForMs(core: Core, lane: Lane, { terms }: Order): number {
  return core.now - (lane.unwantedSince.get(terms.clientOid) ?? core.now)
}

/** An order that has only just become unwanted may be wanted again on the next price, unless it goes anyway. */
function isWeighed(core: Core, lane: Lane, order: Order): boolean {
  return (
    lane.fence !== undefined || unwantedForMs(core, lane, order) >= core.settings.execution.extraToleranceMs
  )
}

/** A fence that waits for its cancel-all gets it: what was ordered first, then whoever has waited too long. */
function rankOf(core: Core, fence: Fence): number | undefined {
  if (fence.stage !== 'cancelling') return undefined
  if (fence.cause === 'command') return 0
  return core.now - fence.notBefore >= STARVED_MS ? 1 : 2
}

/** Orders of unknown fate that may rest are wanted by nobody until they are known. */
function unknownStakes(core: Core, { symbol, fence }: Lane): readonly Stake[] {
  if (!fence) return []
  return [...openOrdersOf(core.book, symbol)]
    .filter(({ state, terms }) => state === 'unknown' && canRest(terms))
    .map((order) => toOrderStake(core, order, Math.max(0, core.now - fence.notBefore)))
}

function lacksRoom(denials: readonly Denial[]): boolean {
  return denials.some(({ code }) => ROOM.has(code))
}

function toOrderStake(core: Core, order: Order, ageMs: number): Stake {
  const { symbol, action, ticks } = order.terms
  return stakeOf(core, { symbol, action, ticks, lots: openLots(order), ageMs })
}

/** An order whose distance nobody knows counts as if it stood at the touch. */
function stakeOf(
  core: Core,
  order: Pick<OrderIntent, 'symbol' | 'action' | 'ticks' | 'lots'> & { readonly ageMs: number },
): Stake {
  const instrument = instrumentOf(core, order.symbol)
  const { bid, ask } = marketOf(core, order.symbol)
  const price = ((order.ticks ?? 0) * instrument.tick.units) / instrument.tick.scale
  const distance = tradesAs(order.action) === 'buy' ? (bid - price) / bid : (price - ask) / ask
  return {
    notional: notionalAt(instrument, order.lots, price),
    distanceRatio: Number.isFinite(distance) ? Math.max(0, distance) : 0,
    ageMs: order.ageMs,
  }
}
