import type { ApprovedItem } from '../../execution/pack-batch.ts'
import type { Candidate } from '../../execution/candidate.ts'
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
import type { WorstCaseBasis } from '../../risk/worst-case-orders.ts'
import { backedHolding } from '../book/allocation.ts'
import { type Book, holdingOf, openOrdersOf } from '../book/book.ts'
import { unownedOf } from '../resolution/unowned-fills.ts'
import { type Core, instrumentOf, specOf } from '../state/core.ts'
import { distanceAfter, type Opening, openingOn } from '../state/distance-after.ts'
import { priceOf, usedBeside } from '../state/capital.ts'
import { equityAtWorst } from '../state/losses.ts'
import { marketOf } from '../state/market-state.ts'
import { countSent } from '../state/open-calls.ts'
import { accountAgeMs } from '../state/readings.ts'
import { ordersOf, totalsOf } from '../state/changes.ts'
import { entryPauseOn } from '../state/exits.ts'
import { tradingStateOf } from '../state/trading-mode.ts'
import { worstCaseBasisOf } from '../state/worst-case.ts'
import { heldBackBy } from '../../domain/trading-mode.ts'
import type { OutgoingBatch } from '../effect.ts'

export interface ApprovedOrders {
  readonly items: readonly ApprovedItem[]
  readonly denials: readonly (Denial | Undescribed<Denial>)[]
  /** Some item reduces risk: the call goes before those that add. */
  readonly reduces: boolean
}

interface ApprovedSoFar {
  readonly approved: readonly string[]
  /** Approved or resting. */
  readonly resting: { buyTicks: number; sellTicks: number }
}

const NOTHING: ApprovedOrders = { items: [], denials: [], reduces: false }

/** Closing orders first. Rungs of a restricted ladder are cut to what is held. */
export function approveOrders(
  core: Core,
  symbol: string,
  candidates: readonly Candidate[],
): ApprovedOrders {
  if (candidates.length === 0) return NOTHING
  const items: ApprovedItem[] = []
  const denials: (Denial | Undescribed<Denial>)[] = []
  const approved: string[] = []
  const { buyTicks, sellTicks } = totalsOf(core, symbol)
  const resting = { buyTicks, sellTicks }
  const contextOf = createRiskContexts(core, symbol, { approved, resting })
  let reduces = false
  for (const { intent: wished, again, isCut } of [...candidates].sort(byUrgency)) {
    const context = contextOf(wished.strategyId as StrategyId)
    if (!context) continue
    const intent = isCut ? cutToHeld(wished, context) : wished
    const isReducing = reducesRisk(intent, context)
    const verdict = again === undefined ? approve(intent, context) : approveAgain(intent, context)
    if (!verdict.approved) {
      denials.push({ ...verdict.objection, ...whose(intent) })
      continue
    }
    reduces ||= isReducing
    approved.push(intent.strategyId)
    noteResting(resting, verdict.intent)
    items.push({ intent: verdict.intent, ...(again === undefined ? {} : { again }) })
  }
  return { items, denials, reduces }
}

/** The exchange handles a batch in turn: an approved order rests when the next is handled. */
function noteResting(
  resting: ApprovedSoFar['resting'],
  { action, ticks, force }: OrderIntent,
): void {
  if (ticks === undefined || !canRest({ ticks, force })) return
  if (tradesAs(action) === 'buy') resting.buyTicks = Math.max(resting.buyTicks, ticks)
  else resting.sellTicks = Math.min(resting.sellTicks, ticks)
}

function whose({
  strategyId,
  symbol,
  purpose,
  key,
}: OrderIntent): Pick<Denial, 'strategyId' | 'symbol' | 'key'> {
  return { strategyId, symbol, ...(purpose === 'place' ? { key } : {}) }
}

function byUrgency(left: Candidate, right: Candidate): number {
  return Number(isClosing(right.intent.action)) - Number(isClosing(left.intent.action))
}

/**
 * On demand. All share the account's exposure and the resting prices, so that what is approved
 * counts for the next candidate.
 */
function createRiskContexts(
  core: Core,
  symbol: string,
  { approved, resting }: ApprovedSoFar,
): (id: StrategyId) => RiskContext | undefined {
  const { settings, book } = core
  const mode = settings.positionMode
  const spec = specOf(core, symbol)
  const market = marketOf(core, symbol)
  const ageMs = accountAgeMs(core, symbol)
  const accountExposure: Exposure = { ...totalsOf(core, symbol).exposure }
  const unowned = unownedOf(book, symbol)
  let counted: OtherInstruments | undefined
  const others = (): OtherInstruments => (counted ??= countOthers(core, symbol))
  let opened: { readonly opening: Opening | undefined } | undefined
  let basis: { readonly worstCase: WorstCaseBasis | undefined } | undefined
  const openings = (): Opening | undefined =>
    (opened ??= { opening: openingOn(core, symbol) }).opening
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
      entryPause: entryPauseOn(core, id, symbol),
      account: settings.limits,
      strategy: limits,
      held: holding,
      holding: backedHolding(book, id, symbol),
      ownExposure: buildExposure(mode, holding, ordersOf(core, id, symbol)),
      accountExposure,
      unowned,
      isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
      resting,
      pace: {
        strategy: () => approved.filter((one) => one === id).length + countSent(core, id),
        account: () => approved.length + countSent(core),
      },
      distanceMin: settings.liquidation?.steps?.reduce,
      distanceAfter(intent) {
        const opening = openings()
        return opening ? distanceAfter(opening, intent) : Number.NaN
      },
      // Only the last checks need these, and they take time.
      get equity() {
        return equityAtWorst(core)
      },
      capital: capital && {
        max: () => capitalAt(capital, equityAtWorst(core)),
        usedBeside: () => usedBeside(core, id, symbol),
      },
      get worstCase() {
        return (basis ??= { worstCase: worstCaseBasisOf(core, symbol) }).worstCase
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
 * Why a batch must not leave after all: trading was restricted (RSK2), account data are too old to
 * add risk (MKT3), or unexplained fills came (RSK4). Asked right before its first byte.
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
    if (entryPauseOn(core, terms.strategyId, terms.symbol) !== undefined && !reduces())
      return 'an exit became due meanwhile'
    if (isBlind && !reduces())
      return 'fills or the position have not been read for too long meanwhile'
    if (checkExplained(terms, openingContextOf(core, terms, trading)) !== undefined) {
      return 'fills came meanwhile that nothing explains'
    }
  }
  return undefined
}

/** All its other open orders may be filled first. */
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
    trading,
    held: holdingOf(core.book, strategyId, symbol),
    holding: backedHolding(core.book, strategyId, symbol),
    accountExposure: totalsOf(core, symbol).exposure,
    unowned: unownedOf(core.book, symbol),
    isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
  }
}
