import { type CancelTiming, type InstrumentStakes, type Stake } from '../../execution/cancel-cost.ts'
import { type Denial, type DenialCode } from '../../domain/denial.ts'
import { type OrderIntent } from '../../domain/intent.ts'
import { canRest, openLots, type Order } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { cancelAllOrders } from '../../protocol/futures/cancel-all-orders.ts'
import { notionalAt } from '../../risk/exposure.ts'
import { approveOrders, type ApprovedOrders } from '../planning/approve-instrument.ts'
import { openOrdersOf } from '../book/book.ts'
import { type Core, specOf } from '../state/core.ts'
import { type Resolution, type InstrumentState } from '../state/instrument-state.ts'
import { marketOf } from '../state/market-view.ts'
import { type InstrumentPlan, planInstrument } from '../planning/plan-instrument.ts'

/** From one cancel-all to the next, as the document allows them to an ordinary account. */
const SLOT_MS = cancelAllOrders.limit.perMs / cancelAllOrders.limit.calls
/** The calls of a cancel-all, its readings and the batch that follows, there and back, on a good day. */
const CALLS_MS = 300
/** A resolution that has waited for its call this long goes before those that have more to lose. */
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
export function stakesNow(core: Core, instrument: InstrumentState): InstrumentStakes {
  const plan = planInstrument(core, instrument)
  const weighs = plan.unwanted.some((order) => isWeighed(core, instrument, order))
  return buildStakes(
    core,
    instrument,
    plan,
    weighs ? approveOrders(core, instrument, plan.candidates) : undefined,
  )
}

/** `approved`: what risk made of the plan's candidates, where that matters. */
export function buildStakes(
  core: Core,
  instrument: InstrumentState,
  plan: InstrumentPlan,
  approved: ApprovedOrders | undefined,
): InstrumentStakes {
  const unwanted = plan.unwanted.filter((order) => isWeighed(core, instrument, order))
  const ages = unwanted.map((order) => unwantedForMs(core, instrument, order))
  const wanted = new Set(approved?.items.map(({ intent }) => intent.key))
  const rests = plan.candidates.map(({ intent }) => intent).filter(canRest)
  const toStake = (intent: OrderIntent, ageMs: number): Stake => stakeOf(core, { ...intent, ageMs })
  return {
    symbol: instrument.symbol,
    rank: instrument.resolution && rankOf(core, instrument.resolution),
    isPlacing: instrument.phase === 'placing',
    unwanted: [
      ...unwanted.map((order, index) => toOrderStake(core, order, ages[index] ?? 0)),
      ...unknownStakes(core, instrument),
    ],
    displaced: wantedRestingOf(core, instrument, plan).map((order) =>
      toOrderStake(core, order, Math.max(0, core.now - order.acceptedAt)),
    ),
    missing: rests.filter(({ key }) => wanted.has(key)).map((intent) => toStake(intent, 0)),
    blocked: lacksRoom(approved?.denials ?? [])
      ? rests.filter(({ key }) => !wanted.has(key)).map((intent) => toStake(intent, Math.max(0, ...ages)))
      : [],
  }
}

/** What rests and is wanted: a cancel-all takes it too. */
function wantedRestingOf(core: Core, instrument: InstrumentState, plan: InstrumentPlan): readonly Order[] {
  if (core.mode !== 'running') return []
  return [...openOrdersOf(core.book, instrument.symbol)].filter(
    (order) => order.state === 'live' && canRest(order.terms) && !plan.unwanted.includes(order),
  )
}

/** Keeps since when each order has been unwanted. */
export function noteUnwanted(core: Core, instrument: InstrumentState, unwanted: readonly Order[]): void {
  const present = new Set(unwanted.map(({ terms }) => terms.clientOid))
  for (const clientOid of instrument.unwantedSince.keys()) {
    if (!present.has(clientOid)) instrument.unwantedSince.delete(clientOid)
  }
  for (const clientOid of present) {
    if (!instrument.unwantedSince.has(clientOid)) instrument.unwantedSince.set(clientOid, core.now)
  }
}

export function unwantedForMs(core: Core, instrument: InstrumentState, { terms }: Order): number {
  return core.now - (instrument.unwantedSince.get(terms.clientOid) ?? core.now)
}

/** An order that has only just become unwanted may be wanted again on the next price, unless it goes anyway. */
function isWeighed(core: Core, instrument: InstrumentState, order: Order): boolean {
  return (
    instrument.resolution !== undefined ||
    unwantedForMs(core, instrument, order) >= core.settings.execution.extraToleranceMs
  )
}

/** A resolution that waits for its cancel-all gets it: what was ordered first, then whoever has waited too long. */
function rankOf(core: Core, resolution: Resolution): number | undefined {
  if (resolution.stage !== 'cancelling') return undefined
  if (resolution.cause === 'command') return 0
  return core.now - resolution.notBefore >= STARVED_MS ? 1 : 2
}

/** Orders of unknown fate that may rest are wanted by nobody until they are known. */
function unknownStakes(core: Core, { symbol, resolution }: InstrumentState): readonly Stake[] {
  if (!resolution) return []
  return [...openOrdersOf(core.book, symbol)]
    .filter(({ state, terms }) => state === 'unknown' && canRest(terms))
    .map((order) => toOrderStake(core, order, Math.max(0, core.now - resolution.notBefore)))
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
  const instrument = specOf(core, order.symbol)
  const { bid, ask } = marketOf(core, order.symbol)
  const price = ((order.ticks ?? 0) * instrument.tick.units) / instrument.tick.scale
  const distance = tradesAs(order.action) === 'buy' ? (bid - price) / bid : (price - ask) / ask
  return {
    notional: notionalAt(instrument, order.lots, price),
    distanceRatio: Number.isFinite(distance) ? Math.max(0, distance) : 0,
    ageMs: order.ageMs,
  }
}
