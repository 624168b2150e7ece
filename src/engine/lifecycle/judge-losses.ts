import { type DrawdownStep, isLossReached, type LossLimits } from '../../domain/loss-limits.ts'
import { isFlat } from '../../domain/position.ts'
import { ACCOUNT, type ModeReason, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { accountHoldingOf, restrictionOf, splitPair } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import { announce, type Core } from '../state/core.ts'
import { holdForDispute, isHeldForDispute } from '../state/disputes.ts'
import {
  askForPositionAgain,
  type MeasuredLoss,
  measureLoss,
  noteAwaited,
  notePeak,
  noteWarned,
  writePeaks,
} from '../state/losses.ts'
import { showAmount } from '../state/own-figure.ts'
import { halt } from '../state/trading-mode.ts'
import { startFlatten } from './flatten.ts'

const BY = 'loss limits'

/**
 * Nothing is judged while a part of the net profit is unknown.
 * @param symbols their profit was compared in this step
 */
export function judgeLosses(core: Core, event: EngineEvent, symbols: readonly string[]): void {
  const { losses, capital } = core.settings
  if (!losses && capital === undefined) return
  if (losses && event.kind === 'commanded' && event.command.kind === 'stop') return writePeaks(core)
  // Moved money changes the drawdown of the account, which is a share of its equity.
  if (symbols.length === 0 && !isMoneyMoved(core)) return
  if (!losses?.limits.has(ACCOUNT)) notePeak(core)
  for (const [scope, limits] of losses?.limits ?? []) {
    if (isConcerned(core, scope, symbols))
      judgeScope(core, scope, { limits, timeZone: losses?.timeZone ?? 'UTC' })
  }
}

function isMoneyMoved({ effects }: Core): boolean {
  return effects.some((effect) => effect.kind === 'record' && effect.record.kind === 'deposit')
}

function isConcerned({ settings }: Core, scope: Scope, symbols: readonly string[]): boolean {
  if (scope === ACCOUNT || symbols.includes(scope)) return true
  for (const strategy of settings.strategies.values()) {
    if (strategyScope(strategy.id) !== scope) continue
    return strategy.symbols.some((symbol) => symbols.includes(symbol))
  }
  return false
}

function judgeScope(
  core: Core,
  scope: Scope,
  { limits, timeZone }: { readonly limits: LossLimits; readonly timeZone: string },
): void {
  judgeStreak(core, scope, limits)
  const measured = measureLoss(core, scope, timeZone)
  const { believed } = measured
  const { daily } = limits
  if (daily !== undefined && isLossReached(believed.dayLoss, daily)) {
    holdOnce(
      core,
      scope,
      'dailyLoss',
      `lost ${showAmount(core, believed.dayLoss)} since the day began, limit ${daily}`,
    )
  }
  judgeDrawdown(core, scope, measured, limits)
  judgeDisputedLoss(core, scope, measured, limits)
}

/** The believed figure may warn and reduce. A flatten needs the one that two readings confirm. */
function judgeDrawdown(
  core: Core,
  scope: Scope,
  { believed, confirmed }: MeasuredLoss,
  { drawdown }: LossLimits,
): void {
  const isBeyond = (fallen: number, step: DrawdownStep): boolean =>
    isLossReached(fallen, drawdown?.[step] ?? Number.POSITIVE_INFINITY)
  const reasonOf = (step: DrawdownStep, fallen = believed.drawdown): string =>
    `${showDrawdown(core, scope, fallen)} below the peak, limit ${showDrawdown(core, scope, drawdown?.[step] ?? 0)}`
  const isKnown = !Number.isNaN(believed.drawdown)
  if (isKnown && noteWarned(core, scope, isBeyond(believed.drawdown, 'warn'))) {
    announce(core, 'warn', 'limits.warned', { scope, reason: reasonOf('warn') })
  }
  const isFlattened = isBeyond(confirmed.lastDrawdown, 'flatten')
  if (isFlattened) flatten(core, scope, reasonOf('flatten', believed.lastDrawdown))
  else if (isBeyond(believed.drawdown, 'reducing'))
    holdOnce(core, scope, 'drawdown', reasonOf('reducing'))
  const isAwaited = !isFlattened && isBeyond(believed.lastDrawdown, 'flatten')
  noteAwaited(core, scope, isAwaited)
  if (isAwaited) for (const symbol of heldIn(core, scope)) askForPositionAgain(core, symbol)
}

/** While figures differ the worse one reduces, and one better reading does not end that. */
function judgeDisputedLoss(
  core: Core,
  scope: Scope,
  { isDisputed, worse }: MeasuredLoss,
  { daily = Number.POSITIVE_INFINITY, drawdown = {} }: LossLimits,
): void {
  if (isDisputed && (isHeldForDispute(core, scope) || Number.isNaN(worse.dayLoss))) return
  const { reducing = Number.POSITIVE_INFINITY, flatten: closing = Number.POSITIVE_INFINITY } =
    drawdown
  const isFallen =
    isLossReached(worse.drawdown, reducing) || isLossReached(worse.lastDrawdown, closing)
  const reason =
    isDisputed && (isFallen || isLossReached(worse.dayLoss, daily))
      ? `by the worse of two figures that differ: lost ${showAmount(core, worse.dayLoss)} since the day began, ${showDrawdown(core, scope, worse.lastDrawdown)} below the peak`
      : undefined
  holdForDispute(core, scope, reason)
}

/** A fall of the account is a share of its equity, that of a strategy an amount. */
export function showDrawdown(core: Pick<Core, 'settings'>, scope: Scope, fallen: number): string {
  return scope === ACCOUNT ? `${(fallen * 100).toFixed(2)} %` : showAmount(core, fallen)
}

function heldIn(core: Core, scope: Scope): readonly string[] {
  return [...core.instruments.keys()].filter(
    (symbol) => isConcerned(core, scope, [symbol]) && !isFlat(accountHoldingOf(core.book, symbol)),
  )
}

function flatten(core: Core, scope: Scope, reason: string): void {
  if (!holdOnce(core, scope, 'drawdownFlatten', reason)) return
  startFlatten(core, { scope, reason, by: BY })
}

function judgeStreak(core: Core, scope: Scope, { streak }: LossLimits): void {
  if (streak === undefined) return
  for (const [pair, { lostInRow = 0 }] of core.book.ownTrades) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyScope(strategyId) !== scope || lostInRow < streak) continue
    holdOnce(
      core,
      scope,
      'losingStreak',
      `${lostInRow} trades in a row lost on ${symbol}, limit ${streak}`,
    )
  }
}

/** @returns false where that restriction stands already */
export function holdOnce(core: Core, scope: Scope, code: ModeReason, reason: string): boolean {
  if (restrictionOf(core.book, scope, code)) return false
  announce(core, 'error', 'limits.reached', { scope, code, reason })
  halt(core, scope, code, reason)
  return true
}
