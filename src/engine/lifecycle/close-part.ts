import { isDeepStrictEqual } from 'node:util'
import { MANUAL } from '../../domain/hand-order.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { type Holding, HOLD_SIDES, type HoldSide } from '../../domain/position.ts'
import {
  type KeptLots,
  listScopes,
  MODE_REASONS,
  type Restriction,
  type Scope,
  strategyScope,
} from '../../domain/trading-mode.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import {
  holdingOf,
  killOf,
  openOrdersOf,
  restrictionOf,
  hasUnownedFills,
  closableHolding,
} from '../book/book.ts'
import type { EngineCommand } from '../event.ts'
import { announce, type Core, instrumentOf, record } from '../state/core.ts'
import { isStarting } from '../state/instrument-state.ts'
import { ordersOf } from '../state/totals.ts'
import { canEnd, endHalt, restrict, riskierOrders } from '../state/trading-mode.ts'
import { expirePlaces } from '../strategies/take-decision.ts'
import { isInScope, startFlatten } from './flatten.ts'
import type { HandPlan } from './trade-by-hand.ts'

export type CloseCommand = Extract<EngineCommand, { kind: 'close' }>

interface ClosePlan extends HandPlan {
  readonly keeps: readonly KeptLots[]
  readonly isRepeated?: true
}

/**
 * Closes a share of what strategies hold in a scope. The close is a restriction, so it survives a
 * restart: the scope only reduces until a release, or strategies would buy back. A close of
 * `manual` alone ends when done, since a person decides. The whole of anything else is a flatten.
 *
 *     close ──► restricted with `keeps`: orders are withdrawn, the part is closed
 *                   │ closed, and the positions were read
 *                   ▼
 *     restricted without `keeps`; of `manual` alone: released
 */
export function startClose(core: Core, command: CloseCommand): void {
  const { scope, reason, by, key } = command
  const { refusal, detail, keeps, isRepeated } = judgeClose(core, command)
  if (isRepeated) return
  if (refusal !== undefined)
    return announce(core, 'warn', 'manual.refused', { scope, why: refusal, by })
  if (isWhole(command)) return startFlatten(core, { scope, reason, by, key })
  restrict(core, { scope, mode: 'reducing', code: 'close', reason, by, keeps, key })
  announce(core, 'info', 'close.begun', { scope, closes: detail, reason, by })
  expirePlaces(core)
}

const NOT_READ =
  'the start has yet to read what the account holds, so a share of it is not known: close it once the run trades, or close the whole with `intentd flatten`'

/** Each instrument is read for itself, so others may be traded already. */
function isUnread(core: Core, scope: Scope): boolean {
  for (const { id, symbols } of core.settings.strategies.values())
    for (const symbol of symbols)
      if (isInScope(scope, id, symbol) && isStarting(core, instrumentOf(core, symbol))) return true
  return false
}

/** A fill that waits for its order may be theirs, and would be sold beyond the share. */
function objectToShare(core: Core, scope: Scope): string | undefined {
  if (isUnread(core, scope)) return NOT_READ
  const unknown = [...core.settings.instruments.keys()].filter((symbol) => {
    const owners = [...core.settings.strategies.values()].filter(
      ({ id, symbols }) => symbols.includes(symbol) && isInScope(scope, id, symbol),
    )
    const isUnowned = owners.length > 0 && hasUnownedFills(core.book, symbol)
    return isUnowned || owners.some(({ id }) => ordersOf(core, id, symbol).some(mayHaveFilled))
  })
  return unknown.length === 0
    ? undefined
    : `what comes of an order or fill of ${unknown.join(', ')} is not known yet, so a share of it is not either: close it again in some seconds, or close the whole with \`intentd flatten\``
}

/** A close that is under way is counted by what it keeps. */
function mayHaveFilled({ state, terms }: Order): boolean {
  if (state === 'unknown' || state === 'quarantined') return true
  return state !== 'queued' && terms.purpose !== 'flatten' && !canRest(terms)
}

function isWhole({ scope, share }: Pick<CloseCommand, 'scope' | 'share'>): boolean {
  return share >= 1 && scope !== strategyScope(MANUAL)
}

export function judgeClose(core: Core, command: CloseCommand): ClosePlan {
  const { scope, share, key, isKeyUsed } = command
  const code = isWhole(command) ? 'flatten' : 'close'
  if (isKeyUsed || restrictionOf(core.book, scope, code)?.key === key) {
    const detail = `not closed again: the close with the key ${key} was begun before`
    return { keeps: [], detail, isRepeated: true }
  }
  const { strategies, instruments } = core.settings
  const scopes = listScopes(instruments.keys(), strategies.keys())
  if (!scopes.includes(scope))
    return { keeps: [], refusal: `${scope} is not configured; scopes: ${scopes.join(', ')}` }
  const refusal = share < 1 ? objectToShare(core, scope) : undefined
  if (refusal !== undefined) return { keeps: [], refusal }
  const before = restrictionOf(core.book, scope, 'close')?.keeps ?? []
  const parts = [...strategies.values()].flatMap(({ id, symbols }) =>
    symbols.flatMap((symbol) =>
      isInScope(scope, id, symbol) ? (partOf(core, { id, symbol, share }) ?? []) : [],
    ),
  )
  const wanted = parts.flatMap(({ kept }) => kept ?? [])
  const keeps = wanted.map((kept) => lesserOf(kept, before))
  if (keeps.length === 0) {
    const why = parts.map(({ text }) => text).join(', ')
    const nothing = `${scope} holds nothing of which this share is large enough for an order`
    return { keeps: [], refusal: why === '' ? nothing : `${nothing}: ${why}` }
  }
  const isKilled = killOf(core.book) !== undefined
  const detail = [
    parts.map(({ text }) => text).join(', '),
    ...(isDeepStrictEqual(keeps, wanted)
      ? []
      : ['a close that is under way leaves less, and is not taken back']),
    ...describeWithdrawn(core, command, keeps),
    ...(isKilled
      ? ['under a kill nothing is closed: release the kill, and it is closed then']
      : []),
  ].join('; ')
  if (scope === strategyScope(MANUAL)) return { keeps, detail }
  return { keeps, detail, holds: { scope, mode: MODE_REASONS[code].mode } }
}

/**
 * All orders of strategies whose part is closed are withdrawn, and of others in the scope those
 * that may add risk.
 */
function describeWithdrawn(
  core: Core,
  command: CloseCommand,
  keeps: readonly KeptLots[],
): readonly string[] {
  const counts = [...core.settings.strategies.values()].flatMap(({ id, symbols }) =>
    symbols.flatMap((symbol) => {
      if (!isInScope(command.scope, id, symbol)) return []
      const isClosed = keeps.some((one) => one.strategyId === id && one.symbol === symbol)
      const orders =
        isClosed || isWhole(command)
          ? ordersOf(core, id, symbol).filter(canEnd)
          : [...riskierOrders(core, { strategyId: id, symbol })]
      return orders.length === 0 ? [] : [{ of: `${symbol} of ${id}`, count: orders.length }]
    }),
  )
  if (counts.length === 0) return []
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const each = counts.map(({ of, count }) => `${count} on ${of}`).join(', ')
  return [`withdraws ${total} open ${total === 1 ? 'order' : 'orders'}: ${each}`]
}

interface StrategyShare {
  readonly id: StrategyId
  readonly symbol: string
  readonly share: number
}

interface StrategyPart {
  /** Undefined where the part is too small for an order. */
  readonly kept: KeptLots | undefined
  readonly text: string
}

/**
 * Whole lots, rounded down.
 * @returns undefined if nothing is held
 */
function partOf(
  { book, settings }: Core,
  { id, symbol, share }: StrategyShare,
): StrategyPart | undefined {
  const instrument = settings.instruments.get(symbol)
  if (instrument === undefined) return undefined
  const held = holdingOf(book, id, symbol)
  const closable = closableHolding(book, id, symbol)
  const sides = HOLD_SIDES.filter((side) => closable[`${side}Lots`] > 0).map((side) => {
    const exact = closable[`${side}Lots`] * share
    const whole = Math.floor(exact + ROUNDING)
    const lots = whole >= instrument.lotsMin ? whole : 0
    return { side, lots, text: describeSide(instrument, { side, held, exact, lots, share }) }
  })
  if (sides.length === 0) return undefined
  const text = `${id} ${symbol} ${sides.map((one) => one.text).join(' and ')}`
  if (sides.every(({ lots }) => lots === 0)) return { kept: undefined, text }
  const lotsOf = (wanted: HoldSide): number => sides.find(({ side }) => side === wanted)?.lots ?? 0
  const kept = {
    strategyId: id,
    symbol,
    longLots: held.longLots - lotsOf('long'),
    shortLots: held.shortLots - lotsOf('short'),
  }
  return { kept, text }
}

interface ClosedSide {
  readonly side: HoldSide
  readonly held: Holding
  readonly exact: number
  readonly lots: number
  readonly share: number
}

/** `closes long 0.005 (5 lots; 50 % are 5.5 lots, rounded down), and 0.006 (6 lots) stay` */
function describeSide(
  { lot, lotsMin }: Instrument,
  { side, held, exact, lots, share }: ClosedSide,
): string {
  const size = (count: number): string => formatOnGrid(lot, count)
  const amount = (count: number): string => `${size(count)} (${toLots(count)})`
  const [stays, part] = [held[`${side}Lots`] - lots, toPercent(share)]
  if (lots === 0)
    return `keeps ${side} ${amount(stays)}: ${part} of it is less than the smallest order, ${size(lotsMin)}`
  const isExact = Math.abs(exact - lots) < ROUNDING
  const rounded = isExact ? '' : `; ${part} are ${Number(exact.toFixed(4))} lots, rounded down`
  const rest = stays === 0 ? 'nothing stays' : `${amount(stays)} ${stays === 1 ? 'stays' : 'stay'}`
  return `closes ${side} ${size(lots)} (${toLots(lots)}${rounded}), and ${rest}`
}

function toLots(count: number): string {
  return `${count} ${count === 1 ? 'lot' : 'lots'}`
}

function toPercent(share: number): string {
  return `${Number((share * 100).toFixed(4))} %`
}

/** A share such as 0.07 is not exact: 0.07 of 100 lots are 7. */
const ROUNDING = 1e-6

/** A close that is under way is not taken back. */
function lesserOf(kept: KeptLots, before: readonly KeptLots[]): KeptLots {
  const { strategyId, symbol } = kept
  const known = before.find((one) => one.strategyId === strategyId && one.symbol === symbol)
  if (known === undefined) return kept
  const least = (side: keyof Holding): number => Math.min(kept[side], known[side])
  return { ...kept, longLots: least('longLots'), shortLots: least('shortLots') }
}

export function advanceCloses(core: Core): void {
  if (!core.run.start.isOver || core.run.phase !== 'running') return
  for (const restriction of Array.from(core.book.restrictions.values())) {
    const { keeps, scope } = restriction
    if (keeps === undefined || !keeps.every((kept) => isDone(core, kept))) continue
    endClose(core, restriction)
    announce(core, 'info', 'close.done', { scope })
  }
}

function endClose(core: Core, restriction: Restriction): void {
  const { keeps: _, scope, ...rest } = restriction
  if (scope === strategyScope(MANUAL))
    return endHalt(core, scope, 'close', 'what was to be closed is closed')
  record(core, { kind: 'restricted', ...rest, scope, at: core.now }, true)
}

/** Nothing is left to close or on its way. What no strategy trades any more is never closed. */
function isDone(core: Core, { strategyId, symbol, ...kept }: KeptLots): boolean {
  const { book, settings } = core
  const instrument = core.instruments.get(symbol)
  const isTraded = settings.strategies.get(strategyId as StrategyId)?.symbols.includes(symbol)
  if (instrument === undefined || isTraded !== true) return true
  if (instrument.phase !== 'idle' || !instrument.position.isConfirmed) return false
  if (hasUnownedFills(book, symbol)) return false
  const isClosing = [...openOrdersOf(book, symbol)].some(
    ({ terms }) => terms.strategyId === strategyId && terms.purpose === 'flatten',
  )
  const held = holdingOf(book, strategyId, symbol)
  const lotsMin = settings.instruments.get(symbol)?.lotsMin ?? 1
  return (
    !isClosing && HOLD_SIDES.every((side) => held[`${side}Lots`] - kept[`${side}Lots`] < lotsMin)
  )
}

/** A person names an instrument, a strategy or a scope. */
export function scopeNamed(
  { strategies }: Pick<Core['settings'], 'strategies'>,
  named: string,
): Scope {
  return strategies.has(named as StrategyId) ? strategyScope(named) : named
}
