import type { ApprovedItem } from '../../execution/batch.ts'
import type { OrderCandidate } from '../../execution/order-plans.ts'
import { capitalAt } from '../../domain/capital.ts'
import type { Denial, Undescribed } from '../../domain/denial.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { canRest, type OrderTerms } from '../../domain/order.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { approve, approveAgain, cutToHeld } from '../../risk/approve.ts'
import { checkExplained, type OpeningContext, reducesRisk } from '../../risk/checks.ts'
import { buildExposure, type Exposure, notionalAt, worstLots } from '../../risk/exposure.ts'
import type { RiskContext } from '../../risk/risk-context.ts'
import {
  backedHolding,
  accountHoldingOf,
  type Book,
  holdingOf,
  openOrdersOf,
  unownedOf,
} from '../book/book.ts'
import { type Core, instrumentOf, specOf } from '../state/core.ts'
import { equityAtWorst, priceOf, usedBeside } from '../state/equity.ts'
import { marketOf } from '../state/market-state.ts'
import { countSent } from '../state/open-calls.ts'
import { accountAgeMs } from '../state/readings.ts'
import { ordersOf, totalsOf } from '../state/totals.ts'
import { entryPauseOn } from '../state/exits.ts'
import { mayBeRestricted, tradingStateOf } from '../state/trading-mode.ts'
import { worstCaseBasisOf } from '../state/worst-case.ts'
import { heldBackBy } from '../../domain/trading-mode.ts'
import type { OutgoingBatch } from '../effect.ts'
import { type Instrument, isInverse, type PositionMode } from '../../domain/instrument.ts'
import type { MaintenanceRules } from '../../domain/liquidation.ts'
import { applyToHolding, type Holding, lotsOn, netLots, HOLD_SIDES } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { distanceTo, type Leg } from '../../risk/liquidation.ts'
import { legsOf, marginBehind, pickPrice } from '../state/liquidations.ts'

export interface ApprovedOrders {
  readonly items: readonly ApprovedItem[]
  readonly denials: readonly (Denial | Undescribed<Denial>)[]
  readonly reduces: boolean
}

interface ApprovedSoFar {
  readonly approved: readonly string[]
  readonly bestResting: { buyTicks: number; sellTicks: number }
}

const NOTHING: ApprovedOrders = { items: [], denials: [], reduces: false }

/** Closing orders come first. */
export function approveOrders(
  core: Core,
  symbol: string,
  candidates: readonly OrderCandidate[],
): ApprovedOrders {
  if (candidates.length === 0) return NOTHING
  const items: ApprovedItem[] = []
  const denials: (Denial | Undescribed<Denial>)[] = []
  const approved: string[] = []
  const { buyTicks, sellTicks } = totalsOf(core, symbol)
  const bestResting = { buyTicks, sellTicks }
  const contextOf = createRiskContexts(core, symbol, { approved, bestResting })
  let reduces = false
  for (const { intent: wished, resendOf, isCut } of [...candidates].sort(closingFirst)) {
    const context = contextOf(wished.strategyId as StrategyId)
    if (!context) continue
    const intent = isCut ? cutToHeld(wished, context) : wished
    const isReducing = reducesRisk(intent, context)
    const verdict =
      resendOf === undefined ? approve(intent, context) : approveAgain(intent, context)
    if (!verdict.approved) {
      denials.push({ ...verdict.objection, ...whose(intent) })
      continue
    }
    reduces ||= isReducing
    approved.push(intent.strategyId)
    noteResting(bestResting, verdict.intent)
    items.push({ intent: verdict.intent, ...(resendOf === undefined ? {} : { resendOf }) })
  }
  return { items, denials, reduces }
}

/** The exchange handles a batch in turn: an approved order rests when the next one is handled. */
function noteResting(
  bestResting: ApprovedSoFar['bestResting'],
  { action, ticks, force }: OrderIntent,
): void {
  if (ticks === undefined || !canRest({ ticks, force })) return
  if (tradesAs(action) === 'buy') bestResting.buyTicks = Math.max(bestResting.buyTicks, ticks)
  else bestResting.sellTicks = Math.min(bestResting.sellTicks, ticks)
}

function whose({
  strategyId,
  symbol,
  purpose,
  key,
}: OrderIntent): Pick<Denial, 'strategyId' | 'symbol' | 'key'> {
  return { strategyId, symbol, ...(purpose === 'place' ? { key } : {}) }
}

function closingFirst(left: OrderCandidate, right: OrderCandidate): number {
  return Number(isClosing(right.intent.action)) - Number(isClosing(left.intent.action))
}

/**
 * The contexts share exposure and resting prices, so what is approved for one counts for the next.
 */
function createRiskContexts(
  core: Core,
  symbol: string,
  { approved, bestResting }: ApprovedSoFar,
): (id: StrategyId) => RiskContext | undefined {
  const { settings, book } = core
  const mode = settings.positionMode
  const spec = specOf(core, symbol)
  const market = marketOf(core, symbol)
  const ageMs = accountAgeMs(core, symbol)
  const accountExposure: Exposure = { ...totalsOf(core, symbol).exposure }
  const unowned = unownedOf(book, symbol)
  const others = atFirstUse(() => countOthers(core, symbol))
  const distanceBasis = atFirstUse(() => distanceBasisOf(core, symbol))
  const worstCase = atFirstUse(() => settings.survives && worstCaseBasisOf(core, symbol))
  const contexts = new Map<StrategyId, RiskContext>()
  return (id) => {
    const known = contexts.get(id)
    const { capital, limits: limitsOf } = settings.strategies.get(id) ?? {}
    const limits = limitsOf?.get(symbol)
    if (known || !limits) return known
    const holding = holdingOf(book, id, symbol)
    const context: RiskContext = {
      now: core.now,
      instrument: spec,
      market,
      accountAgeMs: ageMs,
      trading: tradingStateOf(core, symbol, id),
      entryPause: mayBeRestricted(core) ? entryPauseOn(core, id, symbol) : undefined,
      account: settings.limits,
      strategy: limits,
      held: holding,
      holding: backedHolding(book, id, symbol),
      ownExposure: buildExposure(mode, holding, ordersOf(core, id, symbol)),
      accountExposure,
      unowned,
      isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
      bestResting,
      pace: {
        strategy: () => approved.filter((one) => one === id).length + countSent(core, id),
        account: () => approved.length + countSent(core),
      },
      distanceMin: settings.liquidation?.steps?.reduce,
      distanceAfter(intent) {
        const basis = distanceBasis()
        return basis ? distanceAfter(basis, intent) : Number.NaN
      },
      // Only the last checks need what follows, and it takes time.
      get equity() {
        return equityAtWorst(core)
      },
      capital: capital && {
        max: () => capitalAt(capital, equityAtWorst(core)),
        usedBeside: () => usedBeside(core, id, symbol),
      },
      get worstCase() {
        return worstCase()
      },
      get otherNotional() {
        return others().notional
      },
      get otherOpenOrders() {
        return others().openOrders
      },
    }
    contexts.set(id, context)
    return context
  }
}

function atFirstUse<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined
  return () => (computed ??= { value: compute() }).value
}

interface OtherInstruments {
  readonly notional: number
  readonly openOrders: number
}

function countOthers(core: Core, symbol: string): OtherInstruments {
  let notional = 0
  let openOrders = 0
  for (const [other, instrument] of core.settings.instruments) {
    if (other === symbol) continue
    const { exposure } = totalsOf(core, other)
    openOrders += exposure.openOrders
    const lots = worstLots(exposure)
    if (lots > 0) notional += notionalAt(instrument, lots, priceOf(core, other))
  }
  return { notional, openOrders }
}

/**
 * Why a batch must not leave after all, asked right before its first byte: trading was restricted
 * (RSK2), account data are too old to add risk (MKT3), or unexplained fills came (RSK4).
 * @param now Unix ms, our clock: the last step may be a while ago
 */
export function objectToBatch(
  core: Core,
  { symbol, clientOids }: Pick<OutgoingBatch, 'symbol' | 'clientOids'>,
  now: number,
): string | undefined {
  const isBlind = accountAgeMs(core, symbol, now) > core.settings.limits.accountAgeMaxMs
  for (const clientOid of clientOids) {
    const terms = core.book.orders.get(clientOid)?.terms
    if (terms === undefined) continue
    const isFlatten = terms.purpose === 'flatten'
    const trading = tradingStateOf(core, terms.symbol, terms.strategyId)
    const reduces = (): boolean => reducesRisk(terms, besideOthers(core.book, terms))
    if (heldBackBy(trading, { isFlatten, reduces }) !== undefined)
      return 'trading was restricted meanwhile'
    const isPaused =
      mayBeRestricted(core) && entryPauseOn(core, terms.strategyId, terms.symbol) !== undefined
    if (isPaused && !reduces()) return 'an exit became due meanwhile'
    if (isBlind && !reduces())
      return 'fills or the position have not been read for too long meanwhile'
    if (checkExplained(terms, openingContextOf(core, terms, trading)) !== undefined) {
      return 'fills came meanwhile that nothing explains'
    }
  }
  return undefined
}

/** All other open orders of the strategy may be filled first. */
function besideOthers(book: Book, { strategyId, symbol, clientOid }: OrderTerms) {
  const others = [...openOrdersOf(book, symbol)].filter(
    ({ terms }) => terms.strategyId === strategyId && terms.clientOid !== clientOid,
  )
  const holding = holdingOf(book, strategyId, symbol)
  return { holding, ownExposure: buildExposure(book.positionMode, holding, others) }
}

function openingContextOf(
  core: Core,
  { strategyId, symbol }: OrderTerms,
  trading: OpeningContext['trading'],
): OpeningContext {
  return {
    instrument: specOf(core, symbol),
    trading,
    held: holdingOf(core.book, strategyId, symbol),
    holding: backedHolding(core.book, strategyId, symbol),
    accountExposure: totalsOf(core, symbol).exposure,
    unowned: unownedOf(core.book, symbol),
    isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
  }
}

interface DistanceBasis {
  readonly spec: Instrument
  readonly mode: PositionMode
  readonly held: Holding
  readonly legs: readonly Leg[]
  readonly behind: number
  /** The margin of an order is its value divided by this; undefined where all margin is crossed. */
  readonly leverage: number | undefined
  readonly rules: MaintenanceRules
  readonly bid: number
  readonly ask: number
}

function distanceBasisOf(core: Core, symbol: string): DistanceBasis | undefined {
  const rules = core.settings.liquidation?.rules.get(symbol)
  const held = accountHoldingOf(core.book, symbol)
  const legs = legsOf(core, symbol, held)
  const { marginMode, positionMode: mode } = core.settings
  if (rules === undefined || legs === undefined) return undefined
  const spec = specOf(core, symbol)
  const leverage = marginMode === 'isolated' ? leverageOf(core, spec) : undefined
  const behind = marginMode === 'isolated' ? 0 : marginBehind(core, symbol).behind
  if (Number.isNaN(behind) || Number.isNaN(leverage)) return undefined
  const { bid, ask } = marketOf(core, symbol)
  return { spec, mode, held, legs, behind, leverage, rules, bid, ask }
}

/** NaN while neither the configuration nor a row says it. */
function leverageOf(core: Core, { symbol, leverage }: Instrument): number {
  return leverage ?? Number(instrumentOf(core, symbol).setup.leverage)
}

/**
 * The distance, a share of the price at which the order is filled. Infinity for an order that
 * brings the account no nearer: its net position gets smaller, or an isolated position is closed.
 * With isolated margin only the order's own margin counts.
 */
function distanceAfter(basis: DistanceBasis, order: OrderIntent): number {
  const { spec, mode, held, behind, leverage, rules } = basis
  const { action, lots } = order
  const side = tradesAs(action)
  const tradeSide = isClosing(action) ? 'close' : 'open'
  const price = fillPriceOf(basis, order)
  const inBase = isInverse(spec)
  // In hedge mode the side of a close is that of its position.
  const isOfLong = mode === 'hedge_mode' && tradeSide === 'close' ? side === 'sell' : side === 'buy'
  const after = applyToHolding(mode, held, { side: isOfLong ? 'buy' : 'sell', tradeSide, lots })
  if (leverage !== undefined) {
    const added = Math.max(after.longLots - held.longLots, after.shortLots - held.shortLots)
    if (added <= 0) return Number.POSITIVE_INFINITY
    const size = floatOnGrid(spec.lot, added)
    const leg = { holdSide: isOfLong ? 'long' : 'short', size, entryPrice: price } as const
    const margin = (inBase ? size : size * price) / leverage
    const own = { legs: [leg], behind: margin, rules, isInverse: inBase }
    return distanceTo(pickPrice(own, price), price)
  }
  if (Math.abs(netLots(after)) <= Math.abs(netLots(held))) return Number.POSITIVE_INFINITY
  const { legs, realised } = fillLegs(basis, after, price)
  const of = {
    legs,
    behind: behind + (inBase ? realised / price : realised),
    rules,
    isInverse: inBase,
  }
  return distanceTo(pickPrice(of, price), price)
}

function fillPriceOf({ spec, bid, ask }: DistanceBasis, { action, ticks }: OrderIntent): number {
  const limit = ticks === undefined ? undefined : floatOnGrid(spec.tick, ticks)
  return tradesAs(action) === 'buy' ? Math.min(limit ?? ask, ask) : Math.max(limit ?? bid, bid)
}

interface FilledLegs {
  readonly legs: readonly Leg[]
  /** Size × price difference. */
  readonly realised: number
}

function fillLegs({ spec, legs }: DistanceBasis, after: Holding, price: number): FilledLegs {
  let realised = 0
  const filled = HOLD_SIDES.flatMap((holdSide): readonly Leg[] => {
    const size = floatOnGrid(spec.lot, lotsOn(after, holdSide))
    const leg = legs.find((one) => one.holdSide === holdSide)
    if (leg !== undefined && size < leg.size)
      realised += (holdSide === 'long' ? 1 : -1) * (leg.size - size) * (price - leg.entryPrice)
    if (size === 0) return []
    if (leg === undefined) return [{ holdSide, size, entryPrice: price }]
    const added = Math.max(0, size - leg.size)
    return [
      { holdSide, size, entryPrice: (leg.entryPrice * (size - added) + price * added) / size },
    ]
  })
  return { legs: filled, realised }
}
