import type { ApprovedItem } from '../../execution/batch.ts'
import type { OrderCandidate } from '../../execution/order-plans.ts'
import { capitalAt } from '../../domain/capital.ts'
import type { Denial, Undescribed } from '../../domain/denial.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { isClosing } from '../../domain/order-action.ts'
import { approve, approveAgain, cutToHeld } from '../../risk/approve.ts'
import { checkExplained, type OpeningContext, reducesRisk } from '../../risk/checks.ts'
import { buildExposure, notionalAt, worstLots } from '../../risk/exposure.ts'
import type { RiskContext, SharedContext } from '../../risk/risk-context.ts'
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
import type { Instrument } from '../../domain/instrument.ts'
import type { DistanceBasis } from '../../risk/liquidation.ts'
import { legsOf, marginBehind } from '../state/liquidations.ts'

export interface ApprovedOrders {
  readonly items: readonly ApprovedItem[]
  readonly denials: readonly (Denial | Undescribed<Denial>)[]
  readonly reduces: boolean
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
  const shared = buildSharedContext(core, symbol)
  const contexts = new Map<string, RiskContext>()
  let reduces = false
  for (const { intent: wished, resendOf, isCut } of [...candidates].sort(closingFirst)) {
    const { strategyId } = wished
    const context = contexts.get(strategyId) ?? buildContext(core, symbol, strategyId, shared)
    if (!context) continue
    contexts.set(strategyId, context)
    const intent = isCut ? cutToHeld(wished, context) : wished
    const isReducing = reducesRisk(intent, context)
    const verdict =
      resendOf === undefined ? approve(intent, context) : approveAgain(intent, context)
    if (!verdict.approved) {
      denials.push({ ...verdict.objection, ...whose(intent) })
      continue
    }
    reduces ||= isReducing
    items.push({ intent: verdict.intent, ...(resendOf === undefined ? {} : { resendOf }) })
  }
  return { items, denials, reduces }
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

function buildSharedContext(core: Core, symbol: string): SharedContext {
  const { settings, book, now } = core
  const { exposure, buyTicks, sellTicks } = totalsOf(core, symbol)
  const { steps } = settings.liquidation ?? {}
  return {
    now,
    instrument: specOf(core, symbol),
    market: marketOf(core, symbol),
    accountAgeMs: accountAgeMs(core, symbol),
    account: settings.limits,
    accountExposure: { ...exposure },
    accountPace: { orders: settings.limits.ordersPerMinute === undefined ? 0 : countSent(core) },
    bestResting: { buyTicks, sellTicks },
    unowned: unownedOf(book, symbol),
    isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
    others: countOthers(core, symbol),
    equity: settings.limits.leverageMax === undefined ? undefined : equityAtWorst(core),
    distanceMin: steps?.reduce,
    distanceFrom: steps && distanceBasisOf(core, symbol),
    worstCase: settings.survives && worstCaseBasisOf(core, symbol),
  }
}

/** Undefined for a strategy that is not configured on the instrument. */
function buildContext(
  core: Core,
  symbol: string,
  strategyId: string,
  shared: SharedContext,
): RiskContext | undefined {
  const { settings, book } = core
  const id = strategyId as StrategyId
  const { capital, limits } = settings.strategies.get(id) ?? {}
  const strategy = limits?.get(symbol)
  if (!strategy) return undefined
  const held = holdingOf(book, id, symbol)
  return {
    ...shared,
    trading: tradingStateOf(core, symbol, id),
    entryPause: mayBeRestricted(core) ? entryPauseOn(core, id, symbol) : undefined,
    strategy,
    held,
    holding: backedHolding(book, id, symbol),
    ownExposure: buildExposure(settings.positionMode, held, ordersOf(core, id, symbol)),
    ownPace: { orders: strategy.ordersPerMinute === undefined ? 0 : countSent(core, id) },
    capital: capital && {
      max: capitalAt(capital, equityAtWorst(core)),
      usedBeside: usedBeside(core, id, symbol),
    },
  }
}

function countOthers(core: Core, symbol: string): SharedContext['others'] {
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
