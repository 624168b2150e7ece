import { MANUAL } from '../../domain/hand-order.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { type Holding, HOLD_SIDES } from '../../domain/position.ts'
import {
  type KeptLots,
  listScopes,
  type Restriction,
  type Scope,
  strategyScope,
} from '../../domain/trading-mode.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { closableHolding } from '../book/allocation.ts'
import { holdingOf, killOf, openOrdersOf, restrictionOf, hasUnownedFills } from '../book/book.ts'
import type { EngineCommand } from '../event.ts'
import { announce, type Core, record } from '../state/core.ts'
import { endHalt, restrict } from '../state/trading-mode.ts'
import { expirePlaces } from '../strategies/take-decision.ts'
import { isPart, startFlatten } from './flatten.ts'
import type { HandPlan } from './trade-by-hand.ts'

export type CloseCommand = Extract<EngineCommand, { kind: 'close' }>

interface ClosePlan extends HandPlan {
  readonly keeps: readonly KeptLots[]
  /** Its key was used before. */
  readonly isRepeated?: true
}

/**
 * Closes a share of what strategies hold in a scope. A restriction, so it survives a restart: the
 * scope only reduces until a release, or strategies would buy back. A close of `manual` alone ends
 * when done, since a person decides. The whole of anything else is a flatten.
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
  announce(core, 'warn', 'close.begun', { scope, closes: detail, reason, by })
  expirePlaces(core)
}

function isWhole({ scope, share }: Pick<CloseCommand, 'scope' | 'share'>): boolean {
  return share >= 1 && scope !== strategyScope(MANUAL)
}

/** Changes nothing. */
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
  const before = restrictionOf(core.book, scope, 'close')?.keeps ?? []
  const parts = [...strategies.values()].flatMap(({ id, symbols }) =>
    symbols.flatMap((symbol) =>
      isPart(scope, id, symbol) ? (partOf(core, { id, symbol, share }) ?? []) : [],
    ),
  )
  if (parts.length === 0) {
    const refusal = `${scope} holds nothing of which this share is large enough for an order`
    return { keeps: [], refusal }
  }
  const keeps = parts.map(({ kept }) => lesserOf(kept, before))
  const isKilled = killOf(core.book) !== undefined
  const detail = [
    parts.map(({ text }) => text).join(', '),
    ...(isKilled
      ? ['under a kill nothing is closed: release the kill, and it is closed then']
      : []),
  ].join('; ')
  return { keeps, detail }
}

interface StrategyShare {
  readonly id: StrategyId
  readonly symbol: string
  readonly share: number
}

/** Whole lots, rounded down. Undefined: less than an order. */
function partOf(
  { book, settings }: Core,
  { id, symbol, share }: StrategyShare,
): { readonly kept: KeptLots; readonly text: string } | undefined {
  const instrument = settings.instruments.get(symbol)
  if (instrument === undefined) return undefined
  const held = holdingOf(book, id, symbol)
  const closable = closableHolding(book, id, symbol)
  const closed = HOLD_SIDES.map((side) => {
    const lots = Math.floor(closable[`${side}Lots`] * share + ROUNDING)
    return [side, lots >= instrument.lotsMin ? lots : 0] as const
  })
  const texts = closed.flatMap(([side, lots]) =>
    lots === 0 ? [] : [`${side} ${formatOnGrid(instrument.lot, lots)}`],
  )
  if (texts.length === 0) return undefined
  const { long = 0, short = 0 } = Object.fromEntries(closed) as Partial<Record<string, number>>
  const kept = {
    strategyId: id,
    symbol,
    longLots: held.longLots - long,
    shortLots: held.shortLots - short,
  }
  return { kept, text: `${id} ${symbol} closes ${texts.join(' and ')}` }
}

/** A share such as 0.07 is not exact: 0.07 of 100 lots are 7. */
const ROUNDING = 1e-6

/** A close under way is not taken back. */
function lesserOf(kept: KeptLots, before: readonly KeptLots[]): KeptLots {
  const { strategyId, symbol } = kept
  const known = before.find((one) => one.strategyId === strategyId && one.symbol === symbol)
  if (known === undefined) return kept
  const least = (side: keyof Holding): number => Math.min(kept[side], known[side])
  return { ...kept, longLots: least('longLots'), shortLots: least('shortLots') }
}

/** Ends what is closed and proved by a reading. */
export function advanceCloses(core: Core): void {
  if (!core.run.start.isOver || core.run.phase !== 'running') return
  for (const restriction of Array.from(core.book.restrictions.values())) {
    const { keeps, scope } = restriction
    if (keeps === undefined || !keeps.every((kept) => isDone(core, kept))) continue
    endClose(core, restriction)
    announce(core, 'warn', 'close.done', { scope })
  }
}

function endClose(core: Core, restriction: Restriction): void {
  const { keeps: _, scope, ...rest } = restriction
  if (scope === strategyScope(MANUAL))
    return endHalt(core, scope, 'close', 'what was to be closed is closed')
  record(core, { kind: 'restricted', ...rest, scope, at: core.now }, true)
}

/** Nothing is to be closed or on its way; also where nobody trades it now. */
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

/** A person names an instrument, an owner or a scope. */
export function scopeNamed(
  { strategies }: Pick<Core['settings'], 'strategies'>,
  named: string,
): Scope {
  return strategies.has(named as StrategyId) ? strategyScope(named) : named
}
