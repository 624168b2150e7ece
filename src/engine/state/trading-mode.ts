import { type StrategyId } from '../../domain/ids.ts'
import {
  ACCOUNT,
  MODE_REASONS,
  type ModeReason,
  type RestrictedMode,
  type Restriction,
  type Scope,
  strategyScope,
  toTradingState,
  type TradingState,
} from '../../domain/trading-mode.ts'
import { killOf, restrictionOf, restrictionsOn } from '../book/book.ts'
import { clockUnsynchronised } from './clock-state.ts'
import { announce, type Core, record } from './core.ts'
import { holdAllWishes } from './decision-state.ts'
import { noteFlatten } from './run-state.ts'

/** What an operator does about a halt. */
export const RELEASE_HINT =
  "look at the exchange's own order history and position, then release the instrument"

/** The name under which the daemon itself restricts trading. */
const DAEMON = 'intentd'

/** Holds a scope in the mode of the reason; survives a restart (RSK2). */
export function halt(core: Core, scope: Scope, code: ModeReason, reason: string): void {
  restrict(core, { scope, mode: MODE_REASONS[code].mode, code, reason, by: DAEMON })
}

interface NewRestriction {
  readonly scope: Scope
  readonly mode: RestrictedMode
  readonly code: ModeReason
  readonly reason: string
  readonly by: string
}

/** Holds a scope in a mode. Said again with the same words it changes nothing. */
export function restrict(core: Core, restriction: NewRestriction): void {
  const { scope, mode, code, reason, by } = restriction
  const held = restrictionOf(core.book, scope, code)
  if (held?.reason === reason && held.mode === mode) return
  record(core, { kind: 'restricted', at: core.now, ...restriction }, true)
  announce(core, 'error', `trading.${mode}`, { scope, code, reason, by, ends: MODE_REASONS[code].ends })
}

/** A person has looked, and says why trading may go on. A kill has a release of its own. */
export function release(core: Core, { scope, reason, by }: ReleaseCommand): void {
  const held = [...core.book.restrictions.values()].filter(({ code }) => code !== 'kill')
  if (!held.some((restriction) => restriction.scope === scope)) {
    const scopes = [...new Set(held.map((restriction) => restriction.scope))]
    return announce(core, 'warn', 'trading.notRestricted', { scope, restricted: scopes })
  }
  record(core, { kind: 'released', at: core.now, scope, reason, by }, true)
  announce(core, 'warn', 'trading.released', { scope, reason, by })
  // What was wanted meanwhile, or before, is not placed by itself: each strategy looks first.
  holdAllWishes(core)
  noteFlatten(core.run, scope, undefined)
}

export interface ReleaseCommand {
  readonly scope: Scope
  readonly reason: string
  readonly by: string
}

/**
 * What may leave for an order of the strategy on the instrument, and everything that holds it there: for the account,
 * the instrument or the strategy; what is recorded, and what is only true just now.
 */
export function tradingStateOf(core: Core, symbol: string, strategyId?: StrategyId | string): TradingState {
  return toTradingState([...restrictionsOn(core.book, symbol, strategyId), ...volatileRestrictions(core)])
}

/** Everything that holds any scope: what is recorded, and what is only true just now. */
export function allRestrictions(core: Core): readonly Restriction[] {
  return [...core.book.restrictions.values(), ...volatileRestrictions(core)]
}

/** What holds the account as long as it is true. */
function volatileRestrictions(core: Core): readonly Restriction[] {
  const { clock, run } = core
  const held: Restriction[] = []
  const unsynchronised = clockUnsynchronised(core)
  if (unsynchronised !== undefined) {
    held.push(byDaemon('clockUnsynchronised', unsynchronised, clock.synchronisedAt))
  }
  if (run.spaceLowSince !== undefined) {
    held.push(byDaemon('diskLow', 'the disk of the journal is nearly full', run.spaceLowSince))
  }
  for (const [code, { reason, since }] of run.beyondLimit) held.push(byDaemon(code, reason, since))
  if (run.flatBeforeStop !== undefined) {
    held.push(
      byDaemon('flatten', 'the daemon stops, and closes everything first', run.flatBeforeStop.askedAt),
    )
  }
  return held
}

function byDaemon(code: ModeReason, reason: string, at: number): Restriction {
  return { scope: ACCOUNT, mode: MODE_REASONS[code].mode, code, reason, by: DAEMON, at }
}

/**
 * Whether strategies are asked, and what they want is looked at: the daemon runs, no stop was asked for, and no kill
 * stands. What may leave is another question: the trading mode.
 */
export function isTrading({ run, book }: Core): boolean {
  return run.phase === 'running' && run.flatBeforeStop === undefined && killOf(book) === undefined
}

/** Whether a kill is being carried out: a daemon that stops after it, or starts under it, is doing that first. */
export function isKilling({ run, book }: Core): boolean {
  return run.phase === 'running' && killOf(book) !== undefined
}

/** Whether what the strategy holds on the instrument is being closed: by a command, or before a stop that flattens. */
export function isFlattening({ run, book }: Core, symbol: string, strategyId: StrategyId | string): boolean {
  if (run.phase === 'stopping') return false
  if (run.flatBeforeStop !== undefined) return true
  if (book.restrictions.size === 0) return false
  return [ACCOUNT, symbol, strategyScope(strategyId)].some(
    (scope) => restrictionOf(book, scope, 'flatten') !== undefined,
  )
}

/** Whether the strategy failed too often, and is not asked before somebody has looked. */
export function hasFailed({ book }: Core, strategyId: StrategyId): boolean {
  if (book.restrictions.size === 0) return false
  return restrictionOf(book, strategyScope(strategyId), 'strategyFailed') !== undefined
}
