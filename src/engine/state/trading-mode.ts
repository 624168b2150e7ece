import type { Fill } from '../../domain/fill.ts'
import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import type { MarginMode } from '../../domain/instrument.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { canRest, openLots, type Order, type OrderTerms } from '../../domain/order.ts'
import { isClosing } from '../../domain/order-action.ts'
import type { ReleasedRecord } from '../../domain/record.ts'
import {
  ACCOUNT,
  type KeptLots,
  endsOf,
  MODE_REASONS,
  type ModeReason,
  type RestrictedMode,
  type Restriction,
  type Scope,
  strategyScope,
  toTradingState,
  type TradingState,
} from '../../domain/trading-mode.ts'
import {
  type Book,
  holdingOf,
  killOf,
  restrictionOf,
  restrictionsOn,
  backedHolding,
  closableHolding,
} from '../book/book.ts'
import { noteChanged } from './changes.ts'
import { ordersOf } from './totals.ts'
import { clockUnsynchronised } from './market-state.ts'
import type { EngineCommand } from '../event.ts'
import { announce, type Core, instrumentOf, record } from './core.ts'
import { holdAllWishes } from './decision-state.ts'
import { entryPauseOn, exitDueOn } from './exits.ts'
import { endRefusalsIn } from './refusals.ts'
import { noteFlatten } from './run-state.ts'
import { HOLD_SIDES, applyToHolding, type HoldSide } from '../../domain/position.ts'
import { reducesRisk } from '../../risk/checks.ts'
import { addToExposure, buildExposure } from '../../risk/exposure.ts'
import type { Reduction } from '../../domain/worst-case.ts'
import { mutable } from '../../lib/mutable.ts'

export const RELEASE_HINT =
  "look at the exchange's own order history and position, give what no strategy holds to one (intentd adopt) or flatten it, and then release the instrument"

const DAEMON = 'intentd'

/** The halt survives a restart (RSK2). */
export function halt(core: Core, scope: Scope, code: ModeReason, reason: string): void {
  restrict(core, { scope, mode: MODE_REASONS[code].mode, code, reason, by: DAEMON })
}

export function haltForKey(core: Core, errorCode: string): void {
  halt(core, ACCOUNT, 'refused', `the exchange refuses the key: ${errorCode}`)
}

interface NewRestriction {
  readonly scope: Scope
  readonly mode: RestrictedMode
  readonly code: ModeReason
  readonly reason: string
  readonly by: string
  readonly keeps?: readonly KeptLots[]
  readonly key?: string
}

/** The same mode and reason again change nothing, unless it is a close, whose key is kept. */
export function restrict(core: Core, restriction: NewRestriction): void {
  const { scope, mode, code, reason, by, keeps, key } = restriction
  const held = restrictionOf(core.book, scope, code)
  const isClose = keeps !== undefined || key !== undefined
  if (!isClose && held?.reason === reason && held.mode === mode) return
  record(core, { kind: 'restricted', at: core.now, ...restriction }, true)
  // A close by hand is no trouble, and it ends or is released by the person.
  announce(core, code === 'close' ? 'info' : 'error', `trading.${mode}`, {
    scope,
    code,
    reason,
    by,
    ends: endsOf(restriction),
  })
}

/** A new peak may be taken where nothing is held. A kill has a release of its own. */
export function release(core: Core, { scope, reason, by, peak }: ScopeRelease): void {
  const held = [...core.book.restrictions.values()].filter(({ code }) => code !== 'kill')
  if (peak !== 'new' && !held.some((restriction) => restriction.scope === scope)) {
    const scopes = [...new Set(held.map((restriction) => restriction.scope))]
    return announce(core, 'warn', 'trading.notRestricted', { scope, restricted: scopes })
  }
  record(core, { kind: 'released', at: core.now, scope, reason, by, ...(peak && { peak }) }, true)
  announce(core, 'info', 'trading.released', { scope, reason, by })
  holdAllWishes(core)
  endRefusalsIn(core, scope)
  noteFlatten(core.run, scope, undefined)
}

/** Ends one halt without an operator; others of its scope go on. */
export function endHalt(core: Core, scope: Scope, code: ModeReason, reason: string): void {
  record(core, { kind: 'released', at: core.now, scope, code, reason, by: DAEMON }, true)
  announce(core, 'info', 'trading.released', { scope, code, reason, by: DAEMON })
  holdAllWishes(core)
}

export type ReleaseCommand = Omit<Extract<EngineCommand, { kind: 'release' }>, 'kind'>

export type ScopeRelease = Pick<ReleasedRecord, 'scope' | 'reason' | 'by' | 'peak'>

export function tradingStateOf(
  core: Core,
  symbol: string,
  strategyId?: StrategyId | string,
): TradingState {
  const strategy = strategyId === undefined ? undefined : strategyScope(strategyId)
  const held = volatileRestrictions(core).filter(
    ({ scope }) => scope === ACCOUNT || scope === symbol || scope === strategy,
  )
  return toTradingState([...restrictionsOn(core.book, symbol, strategyId), ...held])
}

export function allRestrictions(core: Core): readonly Restriction[] {
  return [...core.book.restrictions.values(), ...volatileRestrictions(core)]
}

/** Restrictions that hold as long as their cause. */
function volatileRestrictions(core: Core): readonly Restriction[] {
  const { clock, run, readings, disputes } = core
  const held: Restriction[] = []
  const unsynchronised = clockUnsynchronised(core)
  if (unsynchronised !== undefined) {
    const since = Math.max(clock.synchronisedAt, run.startedAt)
    held.push(byDaemon('clockUnsynchronised', unsynchronised, since))
  }
  if (run.spaceLowSince !== undefined) {
    held.push(byDaemon('diskLow', 'the disk of the journal is nearly full', run.spaceLowSince))
  }
  for (const [code, { reason, since }] of run.beyondLimit) held.push(byDaemon(code, reason, since))
  const { search, suspected } = core.names
  if (search !== undefined || suspected.size > 0) {
    const reason =
      search === undefined
        ? 'the exchange knows orders that were just sent for the first time, and it is looked what they are'
        : 'a cancel-all has listed names of orders that this state does not know, and they are looked up'
    held.push({ ...byDaemon('olderState', reason, search?.since ?? core.now), isVolatile: true })
  }
  for (const [scope, { reason, since }] of disputes.reduced) {
    held.push({ ...byDaemon('equityDisputed', reason, since), scope })
  }
  if (run.flatBeforeStop !== undefined) {
    held.push(
      byDaemon(
        'flatten',
        'the daemon stops, and closes everything first',
        run.flatBeforeStop.askedAt,
      ),
    )
  }
  // Each scope is named once, with the first of its rows.
  const lasting = [...readings.unreadable].filter(([, { isHalted }]) => !isHalted)
  const rows = new Map(lasting.toReversed().map((entry) => [entry[1].symbol, entry]))
  for (const [scope, [row, { problem, since }]] of rows)
    held.push({
      ...byDaemon('unreadable', `${row} cannot be read: ${problem}`, since),
      scope,
      isVolatile: true,
    })
  return held
}

function byDaemon(code: ModeReason, reason: string, at: number): Restriction {
  return { scope: ACCOUNT, mode: MODE_REASONS[code].mode, code, reason, by: DAEMON, at }
}

/** Neither a stop nor a kill goes on, so strategies are asked and their wishes planned. */
export function isTrading({ run, book }: Core): boolean {
  return run.phase === 'running' && run.flatBeforeStop === undefined && killOf(book) === undefined
}

export function isKilling({ run, book }: Core): boolean {
  return run.phase === 'running' && killOf(book) !== undefined
}

/** The holding is being closed, wholly or in part, and until then the strategy places nothing. */
export function isFlattening(core: Core, symbol: string, strategyId: StrategyId | string): boolean {
  const { run, book, reductions } = core
  const causes = book.restrictions.size + book.exitStates.size + reductions.size
  if (causes === 0 && run.flatBeforeStop === undefined) return false
  return (
    isClosedByDaemon(core, symbol, strategyId) ||
    (run.phase !== 'stopping' && exitDueOn(core, strategyId, symbol) !== undefined)
  )
}

/** Closing orders of the daemon leave under `halted` too; exits of the strategy do not. */
export function isClosedByDaemon(
  core: Core,
  symbol: string,
  strategyId: StrategyId | string,
): boolean {
  if (core.run.phase === 'stopping') return false
  return (
    isFlatteningAll(core, symbol, strategyId) || reductionOf(core, symbol, strategyId) !== undefined
  )
}

/**
 * A flatten takes the place of an order that was placed by name. A partial close leaves orders that
 * close the rest.
 */
export function isCovered(
  core: Core,
  { symbol, strategyId, action }: Pick<OrderIntent, 'symbol' | 'strategyId' | 'action'>,
): boolean {
  if (isClosing(action))
    return (
      isFlatteningAll(core, symbol, strategyId) ||
      exitDueOn(core, strategyId, symbol)?.keptLots === 0
    )
  return isFlattening(core, symbol, strategyId)
}

export function isFlatteningAll(
  { run, book }: Core,
  symbol: string,
  strategyId: StrategyId | string,
): boolean {
  if (run.phase === 'stopping') return false
  if (run.flatBeforeStop !== undefined) return true
  if (book.restrictions.size === 0) return false
  return [ACCOUNT, symbol, strategyScope(strategyId)].some(
    (scope) => restrictionOf(book, scope, 'flatten') !== undefined,
  )
}

/** A strategy that failed is not asked. */
export function hasFailed({ book }: Core, strategyId: StrategyId): boolean {
  if (book.restrictions.size === 0) return false
  return restrictionOf(book, strategyScope(strategyId), 'strategyFailed') !== undefined
}

interface ReductionsOwner {
  readonly book: Book
  readonly settings: Pick<Core['settings'], 'instruments'>
  readonly reductions: ReadonlyMap<string, Reduction>
}

export interface StrategyReduction {
  readonly holdSide: HoldSide
  readonly keptLots: number
}

export function reductionOf(
  owner: ReductionsOwner,
  symbol: string,
  id: StrategyId | string,
): StrategyReduction | undefined {
  const { book, reductions } = owner
  const reduction = reductions.size === 0 ? undefined : reductions.get(symbol)
  const keptLots = reduction?.keeps.get(id as StrategyId)
  if (reduction === undefined || keptLots === undefined) return closeOf(owner, symbol, id)
  const { holdSide } = reduction
  return holdingOf(book, id, symbol)[`${holdSide}Lots`] > keptLots
    ? { holdSide, keptLots }
    : closeOf(owner, symbol, id)
}

/** The sides are closed one after the other. A rest below the smallest order stays. */
function closeOf(
  { book, settings }: Omit<ReductionsOwner, 'reductions'>,
  symbol: string,
  id: StrategyId | string,
): StrategyReduction | undefined {
  if (book.restrictions.size === 0) return undefined
  const lotsMin = settings.instruments.get(symbol)?.lotsMin ?? 1
  const held = holdingOf(book, id, symbol)
  for (const scope of [ACCOUNT, symbol, strategyScope(id)]) {
    const keeps = restrictionOf(book, scope, 'close')?.keeps
    const kept = keeps?.find((one) => one.strategyId === id && one.symbol === symbol)
    if (kept === undefined) continue
    for (const holdSide of HOLD_SIDES) {
      const keptLots = kept[`${holdSide}Lots`]
      if (held[`${holdSide}Lots`] - keptLots >= lotsMin) return { holdSide, keptLots }
    }
  }
  return undefined
}

/** Takes lots from the strategies of the instrument, in order. @returns whether it is new */
export function reduceTo(
  core: Core,
  order: { readonly symbol: string; readonly lots: number } & Pick<
    Reduction,
    'code' | 'holdSide' | 'reason'
  >,
): boolean {
  const { symbol, lots, code, holdSide, reason } = order
  const { book, settings, changes } = core
  const lotsMin = settings.instruments.get(symbol)?.lotsMin ?? 1
  const keeps = new Map<StrategyId, number>()
  let left = lots
  for (const { id, symbols } of settings.strategies.values()) {
    if (left <= 0 || !symbols.includes(symbol)) continue
    const held = holdingOf(book, id, symbol)[`${holdSide}Lots`]
    const closable = Math.min(held, closableHolding(book, id, symbol)[`${holdSide}Lots`])
    if (closable < lotsMin) continue
    const closed = Math.min(closable, Math.max(left, lotsMin))
    keeps.set(id, held - closed)
    left -= closed
  }
  const before = core.reductions.get(symbol)
  mutable(core.reductions).set(symbol, { code, holdSide, keeps, adopts: left >= lotsMin, reason })
  noteChanged(changes, symbol)
  return before === undefined
}

/** @param ended without `symbols`: all instruments that this reason reduces */
export function endReductions(
  core: Core,
  ended: { readonly code: ModeReason; readonly symbols?: readonly string[] },
): void {
  for (const [symbol, { code }] of core.reductions) {
    if (code !== ended.code || ended.symbols?.includes(symbol) === false) continue
    mutable(core.reductions).delete(symbol)
    noteChanged(core.changes, symbol)
  }
}

/** Another strategy holds the lots now, so the next reading says anew what to close. */
export function forgetReduction(core: Core, symbol: string): void {
  mutable(core.reductions).delete(symbol)
}

/** The configured mode, unless two readings said another. Then only closing orders leave. */
export function marginModeOf(core: Core, symbol: string): MarginMode {
  const isOther = restrictionOf(core.book, symbol, 'marginMode') !== undefined
  const held = isOther ? instrumentOf(core, symbol).setup.marginMode : undefined
  return held ?? core.settings.marginMode
}

type StrategyInstrument = Pick<OrderTerms, 'strategyId' | 'symbol'>

const NONE: ReadonlySet<Order> = new Set()

export type FoundFills = ReadonlyMap<ClientOid, readonly Fill[]>

const NOTHING_FOUND: FoundFills = new Map()

/**
 * Open orders that a recorded restriction takes away, because they may add risk (RSK2). Volatile
 * restrictions take none.
 * @param found counts as recorded
 */
export function restrictedOrders(
  core: Core,
  { strategyId, symbol }: StrategyInstrument,
  found: FoundFills = NOTHING_FOUND,
): ReadonlySet<Order> {
  if (!isRestricted(core, { strategyId, symbol })) return NONE
  return riskierOrders(core, { strategyId, symbol }, found)
}

/**
 * Open orders that a restriction would take away. If several together exceed what is held, the
 * first stay. Orders that cannot be taken away count first.
 */
export function riskierOrders(
  core: Core,
  { strategyId, symbol }: StrategyInstrument,
  found: FoundFills = NOTHING_FOUND,
): ReadonlySet<Order> {
  const { positionMode } = core.book
  const all = ordersOf(core, strategyId, symbol)
  const orders = all.filter((order) => found.size === 0 || !isEnding(order, found))
  const holding = all
    .flatMap(({ terms }) => found.get(terms.clientOid) ?? [])
    .reduce(
      (held, fill) => applyToHolding(positionMode, held, fill),
      backedHolding(core.book, strategyId, symbol),
    )
  const staying = orders.filter((order) => !canBeTaken(order))
  const ownExposure = buildExposure(positionMode, holding, staying)
  const restricted = new Set<Order>()
  for (const order of orders.filter(canBeTaken).sort(restingFirst)) {
    const { action } = order.terms
    const lots = openLots(order)
    if (reducesRisk({ action, lots }, { holding, ownExposure }))
      addToExposure(ownExposure, action, lots)
    else restricted.add(order)
  }
  return restricted
}

function isEnding(order: Order, found: FoundFills): boolean {
  const fills = found.get(order.terms.clientOid)
  if (fills === undefined) return false
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  return !canRest(order.terms) || lots >= openLots(order)
}

/** The rest of the order may add risk, so it is not placed again. */
export function isHeldFromReturn(core: Core, terms: OrderTerms): boolean {
  if (!isRestricted(core, terms)) return false
  const { strategyId, symbol, action } = terms
  const lots = terms.lots - (core.book.orders.get(terms.clientOid)?.filledLots ?? 0)
  const holding = backedHolding(core.book, strategyId, symbol)
  const ownExposure = buildExposure(
    core.book.positionMode,
    holding,
    ordersOf(core, strategyId, symbol),
  )
  return !reducesRisk({ action, lots }, { holding, ownExposure })
}

export function mayBeRestricted({ book }: Core): boolean {
  return book.restrictions.size > 0 || book.exitStates.size > 0 || book.leavings.size > 0
}

/** A recorded restriction, or a pause of entries, lets the strategy only close. */
export function isRestricted(core: Core, { strategyId, symbol }: StrategyInstrument): boolean {
  if (entryPauseOn(core, strategyId, symbol) !== undefined) return true
  return restrictionsOn(core.book, symbol, strategyId).some(
    (one) => !isToLeave(core, strategyId, one),
  )
}

/** `onFailure: leave`: the orders stay open. */
function isToLeave(
  { settings }: Core,
  strategyId: OrderTerms['strategyId'],
  { code }: Restriction,
): boolean {
  return code === 'strategyFailed' && settings.strategies.get(strategyId)?.onFailure === 'leave'
}

function canBeTaken(order: Order): boolean {
  return canEnd(order) && !isClosing(order.terms.action)
}

/** The order can be dropped or cancelled; any other ends by itself. */
export function canEnd({ state, terms }: Order): boolean {
  return state === 'queued' || (state === 'live' && canRest(terms))
}

function restingFirst(left: Order, right: Order): number {
  return Number(left.state === 'queued') - Number(right.state === 'queued')
}
