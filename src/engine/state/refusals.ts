import type { StrategyId } from '../../domain/ids.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { netLots } from '../../domain/position.ts'
import type { ItemOutcome } from '../../domain/record.ts'
import {
  causeOf,
  commonStep,
  describeRefusal,
  isOnCommonStep,
  REFUSAL_CAUSES,
  type RefusableTerms,
  stepsOf,
} from '../../execution/refusal-causes.ts'
import type { ApprovedItem } from '../../execution/batch.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { holdingOf, pairKey, pairOf } from '../book/book.ts'
import { announce, type Core, type OrderRefusal, specOf } from './core.ts'

/**
 * A rejected order makes the orders that its cause concerns wait, by strategy, instrument and kind
 * (`keyOf`). `execution/refusal-causes.ts` says what a cause concerns, and which acceptance
 * disproves it.
 *
 *     none ──rejected──► first ──rejected again──► repeated ─┐
 *      ▲                   │                         │   ▲   │ rejected again: twice the wait
 *      └───────ended───────┴──────────ended──────────┘   └───┘
 *
 * docs/orders.md says what ends a refusal. Any acceptance ends that of a flatten.
 *
 * | state    | kind             | cause   | orders that it concerns                                 |
 * |----------|------------------|---------|---------------------------------------------------------|
 * | first    | opens            | lasting | one of them tries for all with the next decision        |
 * | first    | all else         |         | all of them are tried with the next decision            |
 * | repeated | opens            | any     | one tries for all after 0.25 s, doubled up to a minute  |
 * | repeated | reduces, flatten | any     | one tries for all after 0.25 s, doubled up to 5 s       |
 * | any      | any              | dryRun  | a minute is waited, since nothing can come of it        |
 */
const WAIT_MS = 250
const WAIT_MS_MAX = 60_000
const REDUCING_WAIT_MS_MAX = 5000
const LOGGED_FROM = 5
const ACCEPTED_IN_ROW = 10
const FORGOTTEN_MS = { passing: 300_000, lasting: 3_600_000 }

export interface AnsweredOrder extends Pick<ItemOutcome, 'outcome'> {
  readonly terms: OrderTerms
  readonly code: string | undefined
  readonly message: string | undefined
}

export type RefusableOrder = RefusableTerms &
  Pick<OrderTerms, 'symbol' | 'purpose' | 'exit'> & { readonly strategyId: string }

/** Neither a flatten nor what reduces waits because orders that add were refused. */
export function kindOf({ book, settings }: Core, wish: RefusableOrder): OrderRefusal['kind'] {
  const { strategyId, symbol, purpose, action, lots, exit } = wish
  // Like a flatten, an exit may trade at any price.
  if (purpose === 'flatten' || exit !== undefined) return 'flatten'
  if (isClosing(action)) return 'reduces'
  if (settings.positionMode === 'hedge_mode') return 'opens'
  const net = netLots(holdingOf(book, strategyId, symbol))
  return (tradesAs(action) === 'sell' ? net : -net) >= lots ? 'reduces' : 'opens'
}

export function noteAnswered(core: Core, answered: readonly AnsweredOrder[]): void {
  const accepted = answered.filter(({ outcome }) => outcome === 'accepted' || outcome === 'exists')
  // Orders of this batch disprove nothing for each other: one may have used up what others lack.
  if (core.refusals.size > 0) for (const { terms } of accepted) noteAccepted(core, terms)
  const refused = answered.filter(({ outcome }) => outcome === 'rejected')
  for (const [key, group] of Map.groupBy(refused, (one) => keyOf(core, one))) {
    noteRefused(core, key, { group, accepted })
  }
}

/** A flatten tries a price and no price in turn, so its cause is left out. */
function keyOf(core: Core, { terms, code, message }: AnsweredOrder): string {
  const kind = kindOf(core, terms)
  const cause = kind === 'flatten' ? '' : causeOf(code, message)
  return pairKey(pairOf(terms.strategyId, terms.symbol), pairKey(kind, cause))
}

function noteRefused(
  core: Core,
  key: string,
  { group, accepted }: Readonly<Record<'group' | 'accepted', readonly AnsweredOrder[]>>,
): void {
  const last = group.at(-1)
  if (last === undefined) return
  const { terms, code = '', message = '' } = last
  const cause = causeOf(code, message)
  const { step, pace, isLogged } = REFUSAL_CAUSES[cause]
  const kind = kindOf(core, terms)
  const before = core.refusals.get(key)
  const refusal: OrderRefusal = {
    strategyId: terms.strategyId,
    symbol: terms.symbol,
    kind,
    cause,
    code,
    message,
    terms: leastRefused(cause, [
      ...group.map((one) => one.terms),
      ...(before ? [before.terms] : []),
    ]),
    commonStep: commonStepAfter(core, { before, group, accepted, step }),
    accepted: 0,
    firstAt: before?.firstAt ?? core.now,
    at: core.now,
    inRow: (before?.inRow ?? 0) + 1,
    orders: (before?.orders ?? 0) + group.length,
    isLogged: before?.isLogged ?? false,
  }
  const isToLog =
    isLogged === 'atOnce' || (isLogged === 'whenItGoesOn' && refusal.inRow >= LOGGED_FROM)
  mutable(core.refusals).set(key, { ...refusal, isLogged: refusal.isLogged || isToLog })
  if (!isToLog || refusal.isLogged) return
  announce(core, pace === 'lasting' ? 'error' : 'warn', 'orders.refused', {
    ...whose(refusal),
    orders: refusal.orders,
    lasts: pace === 'lasting',
    reason: describe(core, refusal),
  })
}

/** An accepted order that asks for more than the least refused one disproves the cause for all. */
function leastRefused(
  cause: OrderRefusal['cause'],
  [first, ...others]: readonly OrderTerms[],
): OrderTerms {
  const { disprovedBy } = REFUSAL_CAUSES[cause]
  if (first === undefined) throw new RangeError('nothing was refused')
  return others.reduce((least, one) => (disprovedBy?.(least, one) === true ? one : least), first)
}

/** The grid that accepted orders prove. A refused order on it shows that it has changed. */
function commonStepAfter(
  core: Core,
  {
    before,
    group,
    accepted,
    step,
  }: {
    readonly before: OrderRefusal | undefined
    readonly group: readonly AnsweredOrder[]
    readonly accepted: readonly AnsweredOrder[]
    readonly step: (typeof REFUSAL_CAUSES)[OrderRefusal['cause']]['step']
  },
): number {
  if (step === undefined) return 0
  const known = before?.commonStep ?? 0
  const isRefuted = group.some(({ terms }) => isOnCommonStep(known, stepsOf(terms, step)))
  const [first] = group
  const alike = accepted.filter(
    ({ terms }) =>
      first !== undefined &&
      terms.strategyId === first.terms.strategyId &&
      kindOf(core, terms) === kindOf(core, first.terms),
  )
  return alike.reduce(
    (common, { terms }) => commonStep(common, stepsOf(terms, step)),
    isRefuted ? 0 : known,
  )
}

function noteAccepted(core: Core, terms: OrderTerms): void {
  for (const [key, refusal] of standingFor(core, terms)) {
    const { cause, kind } = refusal
    const { step, disprovedBy } = REFUSAL_CAUSES[cause]
    const common = step === undefined ? 0 : commonStep(refusal.commonStep, stepsOf(terms, step))
    const accepted = refusal.accepted + 1
    const isDisproved =
      step === undefined
        ? disprovedBy?.(terms, refusal.terms) === true
        : isOnCommonStep(common, stepsOf(refusal.terms, step))
    if (kind === 'flatten' || isDisproved || accepted >= ACCEPTED_IN_ROW)
      endRefusal(core, key, refusal)
    else mutable(core.refusals).set(key, { ...refusal, accepted, commonStep: common })
  }
}

function endRefusal(core: Core, key: string, refusal: OrderRefusal): void {
  mutable(core.refusals).delete(key)
  if (refusal.isLogged) announce(core, 'warn', 'orders.refusedNoMore', whose(refusal))
}

function whose({ strategyId, symbol, cause, code }: OrderRefusal) {
  return { strategy: strategyId, symbol, cause, code }
}

/** An operator has looked, so orders are tried as if for the first time. */
export function endRefusalsIn(core: Core, scope: Scope): void {
  for (const [key, refusal] of core.refusals) {
    const { symbol, strategyId } = refusal
    if ([ACCOUNT, symbol, strategyScope(strategyId)].includes(scope)) endRefusal(core, key, refusal)
  }
}

export function forgetRefusals(core: Core): void {
  for (const [key, refusal] of core.refusals) {
    const { cause, at } = refusal
    if (core.now - at > FORGOTTEN_MS[REFUSAL_CAUSES[cause].pace]) endRefusal(core, key, refusal)
  }
}

function standingFor(
  core: Core,
  wish: RefusableOrder,
): readonly (readonly [string, OrderRefusal])[] {
  if (core.refusals.size === 0) return []
  const kind = kindOf(core, wish)
  return [...core.refusals].filter(
    ([, refusal]) =>
      refusal.strategyId === wish.strategyId &&
      refusal.symbol === wish.symbol &&
      refusal.kind === kind &&
      concerns(refusal, wish),
  )
}

function concerns(
  { kind, cause, terms, commonStep: common }: OrderRefusal,
  order: RefusableTerms,
): boolean {
  const { concerns: isConcerned, step } = REFUSAL_CAUSES[cause]
  if (kind === 'flatten') return true
  if (!isConcerned(order, terms)) return false
  return step === undefined || !isOnCommonStep(common, stepsOf(order, step))
}

export function waitsAfterRefusal(core: Core, wish: RefusableOrder): boolean {
  return standingFor(core, wish).some(([, refusal]) => core.now < retryAtOf(refusal))
}

export function oneForEachRefusal(
  core: Core,
  items: readonly ApprovedItem[],
): readonly ApprovedItem[] {
  const tried = new Set<string>()
  return items.filter(({ intent }) => {
    const keys = standingFor(core, intent).flatMap(([key, refusal]) =>
      isTriedSingly(refusal) ? [key] : [],
    )
    const isFree = !keys.some((key) => tried.has(key))
    if (isFree) for (const key of keys) tried.add(key)
    return isFree
  })
}

function isTriedSingly({ kind, cause, inRow }: OrderRefusal): boolean {
  return inRow > 1 || (kind === 'opens' && REFUSAL_CAUSES[cause].pace === 'lasting')
}

/** Unix ms, our clock. */
function retryAtOf({ kind, cause, at, inRow }: OrderRefusal): number {
  if (cause === 'dryRun') return at + WAIT_MS_MAX
  if (inRow < 2) return at
  const waitMsMax = kind === 'opens' ? WAIT_MS_MAX : REDUCING_WAIT_MS_MAX
  return at + Math.min(waitMsMax, WAIT_MS * 2 ** (inRow - 2))
}

/** In a fast market, limit orders far from the mark price, which lags, are refused. */
export function wasPriceRefused(
  { refusals }: Core,
  strategyId: StrategyId,
  symbol: string,
): boolean {
  for (const { strategyId: id, symbol: name, kind, cause, terms } of refusals.values()) {
    if (kind === 'flatten' && id === strategyId && name === symbol)
      return terms.ticks !== undefined && PRICE_CAUSES.has(cause)
  }
  return false
}

const PRICE_CAUSES: ReadonlySet<OrderRefusal['cause']> = new Set([
  'priceStep',
  'priceHigh',
  'priceLow',
  'wouldTake',
  'price',
])

/** A reducing order's price missed the exchange's grid, so ours may be wrong. */
export function isPriceGridWrong(
  { refusals }: Core,
  strategyId: StrategyId,
  symbol: string,
): boolean {
  for (const { strategyId: id, symbol: name, kind, cause } of refusals.values()) {
    if (kind === 'reduces' && cause === 'priceStep' && id === strategyId && name === symbol)
      return true
  }
  return false
}

export interface LoggedRefusal {
  readonly strategyId: StrategyId
  readonly symbol: string
  readonly reason: string
  /** One order tries again then. */
  readonly retryAt: number
}

export function listRefusals(core: Core): readonly LoggedRefusal[] {
  return [...core.refusals.values()]
    .filter(({ isLogged }) => isLogged)
    .map((refusal) => ({
      strategyId: refusal.strategyId,
      symbol: refusal.symbol,
      reason: describe(core, refusal),
      retryAt: retryAtOf(refusal),
    }))
}

function describe(core: Core, { symbol, firstAt, at, ...refusal }: OrderRefusal): string {
  return describeRefusal({ ...refusal, withinMs: at - firstAt }, specOf(core, symbol))
}
