import type { StrategyId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type Holding, isFlat } from '../../domain/position.ts'
import {
  ACCOUNT,
  type Restriction,
  type Scope,
  strategyScope,
  listScopes,
  TRADING_MODES,
} from '../../domain/trading-mode.ts'
import { createGrid, formatOnGrid } from '../../lib/grid.ts'
import {
  type Book,
  openOrdersOf,
  restrictionOf,
  splitPair,
  hasUnownedFills,
  closableHolding,
  unclaimedHolding,
} from '../book/book.ts'
import { hasClosableUnclaimed } from './adopt.ts'
import { hasUnreadableRows } from '../resolution/unreadable.ts'
import { announce, type Core } from '../state/core.ts'
import { noteFlatten } from '../state/run-state.ts'
import { restrict } from '../state/trading-mode.ts'
import { expirePlaces } from '../strategies/take-decision.ts'
import type { EngineCommand } from '../event.ts'

/**
 * Until a release, only orders that lead to zero leave, also for what strategies take over
 * (`adopt.ts`). A flatten is a restriction, so it survives a restart; a flattening stop does the
 * same without one.
 */
export function startFlatten(
  core: Core,
  order: { scope: Scope; reason: string; by: string; key?: string },
): void {
  restrict(core, { ...order, mode: 'halted', code: 'flatten' })
  expirePlaces(core)
}

/** A flatten that takes longer is logged, and again whenever its age has doubled. */
const PATIENCE_MS = 15_000
const PATIENCE_MS_MAX = 600_000

/** A flatten has ended when nothing is held or rests, or only what no strategy here closes. */
export function advanceFlatten(core: Core): void {
  for (const { scope, code, at } of core.book.restrictions.values()) {
    if (code !== 'flatten') continue
    const { ended, patientUntil } = core.run.flattens.get(scope) ?? {}
    const isOver = !isOpen(core, scope) && isProved(core, scope)
    if (isOver) {
      const stillHeld = describeLeft(core, scope)
      const text = JSON.stringify(stillHeld)
      if (ended === text) continue
      announceEnd(core, scope, stillHeld)
      noteFlatten(core.run, scope, { ended: text, patientUntil: core.now })
    } else if (patientUntil === undefined || ended !== undefined) {
      noteFlatten(core.run, scope, { patientUntil: core.now + PATIENCE_MS })
    } else if (core.now >= patientUntil) {
      announceSlow(core, scope, core.now - at)
      const patience = Math.min(PATIENCE_MS_MAX, Math.max(PATIENCE_MS, core.now - at))
      noteFlatten(core.run, scope, { patientUntil: core.now + patience })
    }
  }
}

/**
 * The book can be believed once the start is over, every fill has an owner, and each position was
 * read after the last fill and agrees.
 */
function isProved(core: Core, scope: Scope): boolean {
  return core.run.start.isOver && unreadIn(core, scope).length === 0
}

function unreadIn(core: Core, scope: Scope): readonly string[] {
  const { instruments, book, settings } = core
  return [...instruments.values()].flatMap(({ symbol, position }) => {
    const isConcerned = [...settings.strategies.values()].some(
      ({ id, symbols }) => symbols.includes(symbol) && isInScope(scope, id, symbol),
    )
    const isKnown =
      position.isConfirmed && !hasUnownedFills(book, symbol) && !hasUnreadableRows(core, symbol)
    return (scope === symbol || scope === ACCOUNT || isConcerned) && !isKnown ? [symbol] : []
  })
}

function announceSlow(core: Core, scope: Scope, sinceMs: number): void {
  const openOrders = openOrdersIn(core, scope).length
  const unread = unreadIn(core, scope)
  announce(core, 'error', 'flatten.slow', {
    scope,
    sinceMs,
    stillHeld: describeHeld(core, scope),
    openOrders,
    ...(unread.length > 0 && { unread }),
  })
}

function announceEnd(core: Core, scope: Scope, stillHeld: Readonly<Record<string, string>>): void {
  if (Object.keys(stillHeld).length === 0) return announce(core, 'info', 'flatten.done', { scope })
  announce(core, 'error', 'flatten.left', { scope, stillHeld })
}

/** A strategy's scope lists only what no flatten closes. */
function describeLeft(core: Core, scope: Scope): Record<string, string> {
  const positions = Object.entries(describeOwned(core))
  const ofAccount = positions.filter(([symbol]) => scope === ACCOUNT || scope === symbol)
  return ofAccount.length > 0 ? Object.fromEntries(ofAccount) : describeUnclosable(core, scope)
}

/**
 * Positions whose strategy is not configured, or not on that instrument any more: `trend-btc
 * BTCUSDT` is `long 0.02`.
 */
export function describeUnclosable(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  scope: Scope,
): Record<string, string> {
  const described = [...book.holdings].flatMap(([key, holding]) => {
    const [strategyId, symbol] = splitPair(key)
    const isHeld = holding.longLots > 0 || holding.shortLots > 0
    const isConcerned = isHeld && isInScope(scope, strategyId, symbol) && strategyId !== ''
    if (!isConcerned || strategyId.startsWith('~') || isBound(settings, strategyId, symbol))
      return []
    return [[`${strategyId} ${symbol}`, describeSides(book, symbol, holding)] as const]
  })
  return Object.fromEntries(described)
}

export function isInScope(scope: Scope, strategyId: string, symbol: string): boolean {
  return scope === ACCOUNT || scope === symbol || scope === strategyScope(strategyId)
}

function isBound({ strategies }: Core['settings'], strategyId: string, symbol: string): boolean {
  return strategies.get(strategyId as StrategyId)?.symbols.includes(symbol) ?? false
}

export function describeDropped(
  core: Pick<Core, 'book' | 'settings'>,
  lifted: readonly Restriction[],
): Record<string, string> {
  const flattens = lifted.filter(({ code }) => code === 'flatten')
  return Object.assign({}, ...flattens.map(({ scope }) => describeLeftOpen(core, scope))) as Record<
    string,
    string
  >
}

export function isOpen(core: Pick<Core, 'book' | 'settings'>, scope: Scope): boolean {
  return holdsAnything(core, scope) || openOrdersIn(core, scope).length > 0
}

/** Orders on instruments that are not configured any more cannot be cancelled. */
function openOrdersIn(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  scope: Scope,
): readonly Order[] {
  return [...settings.instruments.keys()].flatMap((symbol) =>
    [...openOrdersOf(book, symbol)].filter(
      ({ state, terms }) => state !== 'quarantined' && isInScope(scope, terms.strategyId, symbol),
    ),
  )
}

/**
 * Lots too small for an order do not count, nor those that are not in the account because lots of
 * no strategy stand against them. What no strategy holds counts, except in the scope of one.
 */
export function holdsAnything(
  core: Pick<Core, 'book' | 'settings'>,
  scope: Scope = ACCOUNT,
): boolean {
  const isHeld = [...core.book.holdings.keys()].some((key) => isToClose(core, key, scope))
  return isHeld || hasClosableUnclaimed(core, scope)
}

function isToClose(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  key: string,
  scope: Scope,
): boolean {
  const [strategyId, symbol] = splitPair(key)
  if (!isInScope(scope, strategyId, symbol) || !isBound(settings, strategyId, symbol)) return false
  const { longLots, shortLots } = closableHolding(book, strategyId as StrategyId, symbol)
  return Math.max(longLots, shortLots) >= (settings.instruments.get(symbol)?.lotsMin ?? 1)
}

export function describeLeftOpen(
  core: Pick<Core, 'book' | 'settings'>,
  scope: Scope,
): Record<string, string> {
  return describeHeld(core, scope, (strategyId, symbol) =>
    [ACCOUNT, symbol, ...(strategyId === undefined ? [] : [strategyScope(strategyId)])].every(
      (one) => restrictionOf(core.book, one, 'flatten') === undefined,
    ),
  )
}

/** `trend-btc BTCUSDT` or `no strategy BTCUSDT` is `long 0.02`. */
function describeHeld(
  core: Pick<Core, 'book' | 'settings'>,
  scope: Scope,
  isAskedFor: (strategyId: StrategyId | undefined, symbol: string) => boolean = () => true,
): Record<string, string> {
  const { book } = core
  const described = [...book.holdings].flatMap(([key, holding]) => {
    const [strategyId, symbol] = splitPair(key)
    if (!isToClose(core, key, scope) || !isAskedFor(strategyId as StrategyId, symbol)) return []
    return [[`${strategyId} ${symbol}`, describeSides(book, symbol, holding)] as const]
  })
  const unclaimed = [...core.settings.instruments.keys()].flatMap((symbol) => {
    const isConcerned = (scope === ACCOUNT || scope === symbol) && isAskedFor(undefined, symbol)
    if (!isConcerned || !hasClosableUnclaimed(core, symbol)) return []
    return [
      [
        `no strategy ${symbol}`,
        describeSides(book, symbol, unclaimedHolding(book, symbol)),
      ] as const,
    ]
  })
  return Object.fromEntries([...described, ...unclaimed])
}

/**
 * Keyed by symbol: `long 0.02`. Fills that wait may be a strategy's, so such an instrument is left
 * out.
 */
export function describeUnclaimed(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  scope: Scope,
): Record<string, string> {
  const described = [...settings.instruments.keys()].flatMap((symbol) => {
    const isConcerned =
      scope === ACCOUNT ||
      scope === symbol ||
      [...settings.strategies.values()].some(
        ({ id, symbols }) => scope === strategyScope(id) && symbols.includes(symbol),
      )
    if (!isConcerned || hasUnownedFills(book, symbol)) return []
    const unclaimed = unclaimedHolding(book, symbol)
    return isFlat(unclaimed) ? [] : [[symbol, describeSides(book, symbol, unclaimed)] as const]
  })
  return Object.fromEntries(described)
}

/** Keyed by symbol: `long 0.02, of trend-btc`. */
export function describeOwned({ book }: Pick<Core, 'book'>): Record<string, string> {
  const held = [...book.account].filter(([, holding]) => !isFlat(holding))
  return Object.fromEntries(
    held.map(([symbol, holding]) => [
      symbol,
      `${describeSides(book, symbol, holding)}, of ${ownersOf(book, symbol).join(', ')}`,
    ]),
  )
}

function ownersOf(book: Book, symbol: string): readonly string[] {
  const strategies = [...book.holdings].flatMap(([key, holding]) => {
    const [owner, held] = splitPair(key)
    return held === symbol && !owner.startsWith('~') && !isFlat(holding) ? [owner] : []
  })
  const waiting = hasUnownedFills(book, symbol) ? ['an order that is not known yet'] : []
  const unclaimed =
    waiting.length === 0 && !isFlat(unclaimedHolding(book, symbol)) ? ['no strategy'] : []
  return [...strategies, ...waiting, ...unclaimed]
}

/** Sizes are in lots only where the lot size was never configured. */
export function describeSides(
  book: Book,
  symbol: string,
  { longLots, shortLots }: Holding,
): string {
  const step = book.grids.get(symbol)?.lot
  const lot = step === undefined ? undefined : createGrid(step)
  const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
  return [
    ...(longLots > 0 ? [`long ${sizeOf(longLots)}`] : []),
    ...(shortLots > 0 ? [`short ${sizeOf(shortLots)}`] : []),
  ].join(', ')
}

type HoldCommand = Extract<EngineCommand, { kind: 'restrict' | 'flatten' }>

/**
 * An unknown scope is refused: a mistyped name would restrict nothing. Only a release replaces a
 * stricter restriction.
 */
export function holdScope(core: Core, command: HoldCommand): void {
  const { scope, reason, by } = command
  const { instruments, strategies } = core.settings
  const scopes = listScopes(instruments.keys(), strategies.keys())
  if (!scopes.includes(scope)) {
    const stillHeld = describeUnclosable(core, scope)
    const isHeld = Object.keys(stillHeld).length > 0
    return announce(core, 'warn', 'trading.scopeUnknown', {
      scope,
      scopes,
      ...(isHeld && { stillHeld }),
    })
  }
  if (command.kind === 'flatten') return startFlatten(core, { scope, reason, by })
  const held = restrictionOf(core.book, scope, 'operator')
  if (held && TRADING_MODES.indexOf(held.mode) > TRADING_MODES.indexOf(command.mode)) {
    return announce(core, 'warn', 'trading.notLoosened', {
      scope,
      mode: held.mode,
      ordered: command.mode,
      by,
    })
  }
  restrict(core, { scope, mode: command.mode, code: 'operator', reason, by })
}
