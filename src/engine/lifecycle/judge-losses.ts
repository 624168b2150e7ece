import {
  DRAWDOWN_STEPS,
  type DrawdownStep,
  type LossLimits,
  type UsedLoss,
} from '../../domain/loss-limits.ts'
import { ACCOUNT, type ModeReason, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { restrictionOf, splitPair } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import type { LossSettings } from '../settings.ts'
import { announce, type Core } from '../state/core.ts'
import { measureLoss, noteNet, notePeak, noteWarned, writePeaks } from '../state/losses.ts'
import { halt, type ReleaseCommand } from '../state/trading-mode.ts'
import { releaseScope, startFlatten } from './flatten.ts'

/** The author of a flatten after a drawdown. */
const BY = 'loss limits'

/**
 * Compares what scopes have lost with their limits, whenever a position or fills of theirs were read. Nothing is judged
 * while a part of the net profit is not known.
 */
export function judgeLosses(core: Core, event: EngineEvent): void {
  const { losses, capital } = core.settings
  if (!losses && capital === undefined) return
  if (losses && event.kind === 'commanded' && event.command.kind === 'stop') return writePeaks(core)
  const symbols = symbolsOf(event)
  if (symbols.length === 0) return
  for (const symbol of symbols) noteNet(core, symbol)
  if (!losses?.limits.has(ACCOUNT)) notePeak(core)
  for (const [scope, limits] of losses?.limits ?? []) {
    if (isConcerned(core, scope, symbols)) judge(core, scope, { limits, timeZone: losses?.timeZone ?? 'UTC' })
  }
}

function symbolsOf(event: EngineEvent): readonly string[] {
  if (event.kind === 'positionRead') return [event.reading.symbol]
  if (event.kind === 'fillsRead') return [...new Set(event.reading.fills.map(({ symbol }) => symbol))]
  return []
}

function isConcerned({ settings }: Core, scope: Scope, symbols: readonly string[]): boolean {
  if (scope === ACCOUNT || symbols.includes(scope)) return true
  for (const strategy of settings.strategies.values()) {
    if (strategyScope(strategy.id) !== scope) continue
    return strategy.symbols.some((symbol) => symbols.includes(symbol))
  }
  return false
}

function judge(
  core: Core,
  scope: Scope,
  { limits, timeZone }: { readonly limits: LossLimits; readonly timeZone: string },
): void {
  judgeStreak(core, scope, limits)
  const used = measureLoss(core, scope, timeZone)
  if (!used) return
  const { daily } = limits
  if (daily !== undefined && isReached(used.dayLoss, daily)) {
    holdOnce(core, scope, 'dailyLoss', `lost ${used.dayLoss.toFixed(2)} since the day began, limit ${daily}`)
  }
  judgeDrawdown(core, used, limits)
}

function judgeDrawdown(core: Core, used: UsedLoss, { drawdown }: LossLimits): void {
  const { scope } = used
  const share = scope === ACCOUNT ? used.drawdownShare : undefined
  const fallen = scope === ACCOUNT ? (share ?? 0) : used.drawdown
  const show = (amount: number): string =>
    share === undefined ? amount.toFixed(2) : `${(amount * 100).toFixed(2)} %`
  const reached = DRAWDOWN_STEPS.filter((step) =>
    isReached(fallen, drawdown?.[step] ?? Number.POSITIVE_INFINITY),
  )
  const reasonOf = (step: DrawdownStep): string =>
    `${show(fallen)} below the peak, limit ${show(drawdown?.[step] ?? 0)}`
  const isWarned = reached.includes('warn')
  if (noteWarned(core, scope, isWarned)) {
    announce(core, 'warn', 'limits.warned', { scope, reason: reasonOf('warn') })
  }
  if (reached.includes('flatten')) flatten(core, scope, reasonOf('flatten'))
  else if (reached.includes('reducing')) holdOnce(core, scope, 'drawdown', reasonOf('reducing'))
}

/** With a tolerance, because sums of decimals as floats are slightly off. */
function isReached(lost: number, limit: number): boolean {
  return lost >= limit * (1 - 1e-9)
}

function flatten(core: Core, scope: Scope, reason: string): void {
  if (!holdOnce(core, scope, 'drawdownFlatten', reason)) return
  startFlatten(core, { scope, reason, by: BY })
}

/** Losing streaks are counted for strategies only. */
function judgeStreak(core: Core, scope: Scope, { streak }: LossLimits): void {
  if (streak === undefined) return
  for (const [pair, { lostInRow = 0 }] of core.book.ownTrades) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyScope(strategyId) !== scope || lostInRow < streak) continue
    holdOnce(core, scope, 'losingStreak', `${lostInRow} trades in a row lost on ${symbol}, limit ${streak}`)
  }
}

/** Restricts the scope for a reason, unless it is restricted for that already. */
function holdOnce(core: Core, scope: Scope, code: ModeReason, reason: string): boolean {
  if (restrictionOf(core.book, scope, code)) return false
  announce(core, 'error', 'limits.reached', { scope, code, reason })
  halt(core, scope, code, reason)
  return true
}

/** Releases a scope, unless the cool-down after a drawdown is not over. */
export function releaseAfterCoolDown(core: Core, order: ReleaseCommand): void {
  const leftMs = coolDownLeftMs(core, order.scope, core.settings.losses)
  if (leftMs <= 0) return releaseScope(core, order)
  announce(core, 'warn', 'limits.coolDown', {
    ...{ scope: order.scope, by: order.by, leftMs },
    until: new Date(core.now + leftMs).toISOString(),
  })
}

function coolDownLeftMs({ book, run, now }: Core, scope: Scope, losses: LossSettings | undefined): number {
  const held = (['drawdown', 'drawdownFlatten'] as const).map((code) => restrictionOf(book, scope, code))
  const newest = Math.max(...held.map((restriction) => restriction?.at ?? Number.NEGATIVE_INFINITY))
  // A time in the future: the clock was ahead then. It was before this run, more is not known.
  const reachedAt = newest > now ? Math.min(newest, run.startedAt) : newest
  return reachedAt + (losses?.coolDownMs ?? 0) - now
}
