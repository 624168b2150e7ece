import { type AccountCall, isAccountCall } from '../../domain/account-call.ts'
import type { Denial, DenialCode } from '../../domain/denial.ts'
import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import type {
  AccountCallIntent,
  Intent,
  OrderIntent,
  PlaceIntent,
  QuoteIntent,
  QuoteLevel,
  TargetIntent,
} from '../../domain/intent.ts'
import { canRest } from '../../domain/order.ts'
import type { DecisionRecord, UsedKey } from '../../domain/record.ts'
import { unreachable } from '../../lib/unreachable.ts'
import {
  holdingOf,
  killOf,
  openOrdersOf,
  pairKey,
  pairOf,
  splitPair,
  isShown,
} from '../book/book.ts'
import { buildLadderChange } from '../book/apply-record.ts'
import { netLots } from '../../domain/position.ts'
import { takeAccountCall, withdrawCalls } from './account-calls.ts'
import { objectToRepeat } from '../state/limit-pace.ts'
import { objectToNumbers, objectToPrices, objectToSize } from '../../risk/checks.ts'
import { announce, type Core, record, specOf } from '../state/core.ts'
import { noteDecision, noteState, noteStateRecorded } from '../state/decision-state.ts'
import { isCovered, isTrading } from '../state/trading-mode.ts'
import { noteDecisionDenials, noteDenials } from '../state/denials.ts'
import { freshUntil, seenMarketOf } from '../state/market-state.ts'
import type { StrategySettings } from '../settings.ts'

/** The exchange takes minutes for so many orders. */
export const PLACES_MAX = 1000

export interface TakenDecision {
  readonly strategyId: StrategyId
  readonly sequence: number
  readonly intents: readonly Intent[]
  readonly state: unknown
  readonly denials: readonly Denial[]
  readonly usedKeys?: readonly UsedKey[]
  readonly command?: DecisionRecord['command']
}

interface WishChanges {
  readonly quotes: { symbol: string; levels: readonly QuoteLevel[] }[]
  readonly targets: Omit<TargetIntent, 'kind'>[]
  readonly places: OrderIntent[]
  readonly calls: AccountCall[]
  readonly withdrawn: ClientOid[]
  /** An order that waited to be placed was dropped. */
  hasDropped: boolean
  readonly denials: Denial[]
  readonly usedKeys: readonly UsedKey[]
}

/**
 * Changed wishes and the state are in one record: after a crash both hold, or neither does and the
 * strategy decides again. Without new wishes the state is recorded later.
 */
export function takeDecision(core: Core, decision: TakenDecision): void {
  const strategy = core.settings.strategies.get(decision.strategyId)
  if (!strategy || !isTrading(core)) return
  noteDecision(core, strategy, decision.sequence)
  noteState(core, strategy.id, decision.state)
  if (repeatsItself(core, strategy, decision)) return noteDecisionDenials(core, strategy, [])
  const changes = noChanges(decision)
  for (const intent of decision.intents) takeIntent(core, strategy, intent, changes)
  recordChanges(core, decision, changes)
  noteDecisionDenials(core, strategy, changes.denials)
}

/** Most decisions only ask for what stands already. */
function repeatsItself(
  core: Core,
  { id, symbols }: StrategySettings,
  { intents, denials }: TakenDecision,
): boolean {
  if (denials.length > 0) return false
  return intents.every(
    (intent) =>
      symbols.includes(intent.symbol) &&
      isShown(core.book, id, intent.symbol) &&
      stands(core.book, id, intent),
  )
}

function stands({ quotes, targets }: Core['book'], id: StrategyId, intent: Intent): boolean {
  if (intent.kind === 'target') return targets.get(pairOf(id, intent.symbol)) === intent.lots
  return (
    intent.kind === 'quote' &&
    sameLevels(quotes.get(pairOf(id, intent.symbol)) ?? [], intent.levels)
  )
}

function noChanges({ denials = [], usedKeys = [] }: Partial<TakenDecision> = {}): WishChanges {
  const none = { quotes: [], targets: [], places: [], calls: [], withdrawn: [], hasDropped: false }
  return { ...none, denials: [...denials], usedKeys }
}

function wasUsed({ usedKeys }: WishChanges, purpose: UsedKey['purpose'], key: string): boolean {
  return usedKeys.some((used) => used.purpose === purpose && used.key === key)
}

function takeIntent(
  core: Core,
  strategy: StrategySettings,
  intent: Intent,
  changes: WishChanges,
): void {
  if (
    !strategy.symbols.includes(intent.symbol) ||
    !isShown(core.book, strategy.id, intent.symbol)
  ) {
    const detail = `it lists ${strategy.symbols.join(', ')}`
    return deny(changes, strategy, intent.symbol, 'INSTRUMENT_NOT_BOUND', detail)
  }
  const objection = objectToNumbers(specOf(core, intent.symbol), intent)
  if (objection) {
    const key = intent.kind === 'place' ? { key: intent.key } : {}
    changes.denials.push({ ...objection, strategyId: strategy.id, symbol: intent.symbol, ...key })
    return
  }
  if (isAccountCall(intent)) return takeCall(core, strategy, intent, changes)
  switch (intent.kind) {
    case 'quote':
      return takeQuote(core, strategy, intent, changes)
    case 'target':
      return takeTarget(core, strategy, intent, changes)
    case 'place':
      return takePlace(core, strategy, intent, changes)
    case 'cancelAll':
      return takeCancelAll(core, strategy, intent.symbol, changes)
    default:
      return unreachable(intent)
  }
}

function takeCall(
  core: Core,
  strategy: StrategySettings,
  intent: AccountCallIntent,
  changes: WishChanges,
): void {
  const taken = takeAccountCall(core, strategy.id, intent)
  const isSecond =
    changes.calls.some((call) => call.key === intent.key) || wasUsed(changes, 'call', intent.key)
  if (!taken.ok) return deny(changes, strategy, intent.symbol, taken.code, taken.detail)
  if (isSecond) return deny(changes, strategy, intent.symbol, 'KEY_REUSED', intent.key)
  changes.calls.push(taken.call)
}

function takeTarget(
  core: Core,
  strategy: StrategySettings,
  intent: TargetIntent,
  changes: WishChanges,
): void {
  const { kind: _, ...target } = intent
  const { symbol, lots } = target
  const earlier = changes.targets.findIndex((one) => one.symbol === symbol)
  if (earlier >= 0) changes.targets.splice(earlier, 1)
  if (core.book.targets.get(pairOf(strategy.id, symbol)) !== lots) changes.targets.push(target)
}

function takeQuote(
  core: Core,
  strategy: StrategySettings,
  intent: QuoteIntent,
  changes: WishChanges,
): void {
  const rungs = new Set(intent.levels.map((level) => `${level.side}:${level.ticks}`))
  if (rungs.size < intent.levels.length) {
    return deny(
      changes,
      strategy,
      intent.symbol,
      'INTENT_MALFORMED',
      'two levels of one side at one price',
    )
  }
  changeQuote(core, strategy, intent, changes)
}

/** The last of several ladders counts; one that stands already changes nothing. */
function changeQuote(
  core: Core,
  { id }: StrategySettings,
  { symbol, levels }: Pick<QuoteIntent, 'symbol' | 'levels'>,
  changes: WishChanges,
): void {
  const earlier = changes.quotes.findIndex((quote) => quote.symbol === symbol)
  if (earlier >= 0) changes.quotes.splice(earlier, 1)
  const standing = core.book.quotes.get(pairOf(id, symbol)) ?? []
  if (!sameLevels(standing, levels)) changes.quotes.push({ symbol, levels })
}

function sameLevels(left: readonly QuoteLevel[], right: readonly QuoteLevel[]): boolean {
  return (
    left.length === right.length &&
    left.every((level, index) => {
      const other = right[index]
      return (
        other &&
        level.side === other.side &&
        level.ticks === other.ticks &&
        level.lots === other.lots &&
        level.tag === other.tag
      )
    })
  )
}

function takePlace(
  core: Core,
  strategy: StrategySettings,
  intent: PlaceIntent,
  changes: WishChanges,
): void {
  const { symbol, key } = intent
  if (key === '' || key.includes('|'))
    return deny(changes, strategy, symbol, 'KEY_MISSING', 'an empty key, or one with a bar')
  const pair = pairKey(strategy.id, key)
  const known = core.book.keys.has(pair) || core.book.places.has(pair)
  if (
    known ||
    wasUsed(changes, 'place', key) ||
    changes.places.some((place) => place.key === key)
  ) {
    changes.denials.push({ code: 'KEY_REUSED', detail: key, strategyId: strategy.id, symbol, key })
    return
  }
  if (countPlaces(core, strategy.id) + changes.places.length >= PLACES_MAX) {
    const detail = `${key}: ${PLACES_MAX} wait`
    changes.denials.push({ code: 'PLACES_TOO_MANY', detail, strategyId: strategy.id, symbol, key })
    return
  }
  const place: OrderIntent = {
    strategyId: strategy.id,
    symbol,
    purpose: 'place',
    key,
    action: intent.action,
    lots: intent.lots,
    ticks: intent.ticks,
    force: intent.ticks === undefined ? 'ioc' : (intent.force ?? 'gtc'),
    takeProfitTicks: intent.takeProfitTicks,
    stopLossTicks: intent.stopLossTicks,
    deadlineAt: intent.ttlMs === undefined ? freshUntil(core, symbol) : core.now + intent.ttlMs,
    ...(intent.tag !== undefined && { tag: intent.tag }),
  }
  const objection = objectToRepeat(core, strategy, place)
  if (objection) changes.denials.push({ ...objection, strategyId: strategy.id, symbol, key })
  else changes.places.push(place)
}

function countPlaces({ book: { places } }: Core, strategyId: StrategyId): number {
  // Mostly all strategies together have fewer, so they need not be counted apart.
  if (places.size < PLACES_MAX / 4) return places.size
  return [...places.values()].filter((place) => place.strategyId === strategyId).length
}

/** Withdraws everything except the target. */
function takeCancelAll(
  core: Core,
  strategy: StrategySettings,
  symbol: string,
  changes: WishChanges,
): void {
  changeQuote(core, strategy, { symbol, levels: [] }, changes)
  for (const place of changes.places.splice(0))
    if (place.symbol !== symbol) changes.places.push(place)
  for (const order of openOrdersOf(core.book, symbol)) {
    const { strategyId, clientOid } = order.terms
    const rests = strategyId === strategy.id && canRest(order.terms)
    const isNew = !core.book.withdrawn.has(clientOid) && !changes.withdrawn.includes(clientOid)
    if (rests && isNew) changes.withdrawn.push(clientOid)
  }
  for (const place of core.book.places.values()) {
    if (place.strategyId === strategy.id && place.symbol === symbol) {
      dropPlace(core, place, 'withdrawn by its strategy')
      changes.hasDropped = true
    }
  }
}

function deny(
  changes: WishChanges,
  strategy: StrategySettings,
  symbol: string,
  code: DenialCode,
  detail: string,
): void {
  changes.denials.push({ code, detail, strategyId: strategy.id, symbol })
}

function recordChanges(core: Core, decision: TakenDecision, changes: WishChanges): void {
  const { strategyId } = decision
  const { book } = core
  const ladders = changes.quotes.map(({ symbol, levels }) =>
    buildLadderChange(symbol, book.quotes.get(pairOf(strategyId, symbol)) ?? [], levels),
  )
  const wants = {
    ...(ladders.length > 0 ? { quotes: ladders } : {}),
    ...(changes.targets.length > 0 ? { targets: changes.targets } : {}),
    ...(changes.places.length > 0 ? { places: changes.places } : {}),
    ...(changes.calls.length > 0 ? { calls: changes.calls } : {}),
    ...(changes.withdrawn.length > 0 ? { withdrawn: changes.withdrawn } : {}),
  }
  const wantsSomething = Object.keys(wants).length > 0 || changes.hasDropped
  if (!wantsSomething) return
  const stateText = newestStateOf(core, strategyId)
  noteStateRecorded(core, strategyId)
  const parts = { ...(stateText === undefined ? {} : { stateText }), ...wants }
  if (Object.keys(parts).length === 0) return
  const symbols = new Set(
    [...changes.quotes, ...changes.targets, ...changes.places].map(({ symbol }) => symbol),
  )
  const markets = Object.fromEntries(
    [...symbols].map((symbol) => [symbol, seenMarketOf(core, symbol)]),
  )
  const seen = symbols.size === 0 ? {} : { seen: { snapshot: decision.sequence, markets } }
  const { command } = decision
  const source = command === undefined ? {} : { command }
  const at = core.now
  const entry: DecisionRecord = { kind: 'decision', at, strategyId, ...parts, ...source, ...seen }
  // A command is answered once its record is durable.
  record(core, entry, command !== undefined)
  for (const { symbol, levels } of changes.quotes) {
    announce(core, 'debug', 'quote.changed', {
      strategy: strategyId,
      symbol,
      levels: levels.length,
    })
  }
  for (const { symbol, lots } of changes.targets) {
    announce(core, 'info', 'target.changed', { strategy: strategyId, symbol, lots })
  }
}

/** Drops orders whose time is over (ORD7), or that a kill or a flatten replaces. */
export function expirePlaces(core: Core): void {
  if (core.book.places.size === 0) return
  const isKilled = killOf(core.book) !== undefined
  for (const place of core.book.places.values()) {
    if (core.now > place.deadlineAt) dropPlace(core, place, 'not sent within its time')
    else if (isKilled || isCovered(core, place))
      dropPlace(core, place, 'a kill or a flatten goes on')
  }
}

export function dropPlace(
  core: Core,
  place: OrderIntent,
  reason: string,
  code: DenialCode = 'INTENT_EXPIRED',
): void {
  record(core, {
    kind: 'expire',
    at: core.now,
    orders: [],
    places: [{ strategyId: place.strategyId, key: place.key }],
    reason,
  })
  const { strategyId, symbol, key } = place
  const denial = { code, detail: `${key}: ${reason}`, strategyId, symbol, key }
  if (core.instruments.has(symbol)) noteDenials(core, symbol, [denial])
}

export function dropPlaces(core: Core, reason: string): void {
  for (const place of core.book.places.values()) dropPlace(core, place, reason)
}

/**
 * Drops wishes that cannot be counted, which earlier versions accepted. A ladder is withdrawn, and a
 * target becomes what is held.
 */
export function dropUncountable(core: Core): void {
  const { book, settings } = core
  for (const place of book.places.values()) {
    const spec = settings.instruments.get(place.symbol)
    const { lots, ticks, takeProfitTicks, stopLossTicks } = place
    const objection =
      spec &&
      (objectToSize(spec, lots) ?? objectToPrices(spec, [ticks, takeProfitTicks, stopLossTicks]))
    if (objection) dropPlace(core, place, objection.detail, objection.code)
  }
  for (const [pair, levels] of book.quotes) {
    const [id, symbol] = splitPair(pair)
    dropWish(core, { kind: 'quote', symbol, levels }, { id, quotes: [{ symbol, levels: [] }] })
  }
  for (const [pair, lots] of book.targets) {
    const [id, symbol] = splitPair(pair)
    const held = netLots(holdingOf(book, id, symbol))
    dropWish(core, { kind: 'target', symbol, lots }, { id, targets: [{ symbol, lots: held }] })
  }
}

function dropWish(
  core: Core,
  wish: QuoteIntent | TargetIntent,
  { id, ...change }: { readonly id: string } & Pick<DecisionRecord, 'quotes' | 'targets'>,
): void {
  const spec = core.settings.instruments.get(wish.symbol)
  const objection = spec && objectToNumbers(spec, wish)
  if (!objection) return
  record(core, { kind: 'decision', at: core.now, strategyId: id as StrategyId, ...change })
  noteDenials(core, wish.symbol, [{ ...objection, strategyId: id, symbol: wish.symbol }])
}

export function withdrawWishes(core: Core, strategyId: StrategyId): void {
  const strategy = core.settings.strategies.get(strategyId)
  const changes = noChanges()
  if (strategy)
    for (const symbol of strategy.symbols) takeCancelAll(core, strategy, symbol, changes)
  const { quotes, withdrawn } = changes
  if (quotes.length + withdrawn.length > 0) {
    record(core, { kind: 'decision', at: core.now, strategyId, quotes, withdrawn })
  }
  withdrawCalls(core, strategyId)
}

/**
 * A state without new wishes is recorded after so long. A crash sets a strategy back by no more, and
 * never to before something that it wanted.
 */
export const STATE_UNRECORDED_MS_MAX = 10_000

/** States that are not recorded yet are included. */
export function newestStates({ book, decisions }: Core): ReadonlyMap<StrategyId, string> {
  const newest = new Map(book.strategyStates)
  for (const [strategyId, { state }] of decisions.states)
    newest.set(strategyId, JSON.stringify(state))
  return newest
}

export function recordDueStates(core: Core): void {
  if (core.settings.forgetsStates === true) return
  recordStates(core, core.now - STATE_UNRECORDED_MS_MAX)
}

/** Called at an orderly end of a run. */
export function recordAllStates(core: Core): void {
  recordStates(core, core.now)
}

function recordStates(core: Core, since: number): void {
  for (const strategyId of core.decisions.states.keys()) {
    const waitsSince = core.decisions.states.get(strategyId)?.waitsSince
    if (waitsSince === undefined || waitsSince > since) continue
    const stateText = newestStateOf(core, strategyId)
    if (stateText !== undefined)
      record(core, { kind: 'decision', at: core.now, strategyId, stateText })
    noteStateRecorded(core, strategyId)
  }
}

/** As JSON; undefined if the book has this state already, or is to have none. */
function newestStateOf(
  { book, decisions, settings }: Core,
  strategyId: StrategyId,
): string | undefined {
  if (settings.forgetsStates === true) return undefined
  const known = decisions.states.get(strategyId)
  if (known?.waitsSince === undefined) return undefined
  const text = JSON.stringify(known.state)
  return book.strategyStates.get(strategyId) === text ? undefined : text
}
