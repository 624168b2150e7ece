import {
  DRAWDOWN_STEPS,
  type DrawdownStep,
  isLossReached,
  type LossLimits,
  type UsedLoss,
} from '../../domain/loss-limits.ts'
import { ACCOUNT, type Scope } from '../../domain/trading-mode.ts'
import {
  capitalOf,
  restrictionOf,
  holdingOf,
  pairOf,
  hasUnownedFills,
  unclaimedHolding,
} from '../book/book.ts'
import type { LossSettings } from '../settings.ts'
import { announce, type Core } from '../state/core.ts'
import { usedLossOf, writePeaks } from '../state/losses.ts'
import { showAmount, toAmountText } from '../state/own-figure.ts'
import { release, type ReleaseCommand, type ScopeRelease } from '../state/trading-mode.ts'
import { describeLeftOpen, describeSides, isInScope } from './flatten.ts'
import { showDrawdown } from './judge-losses.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { type Holding, isFlat } from '../../domain/position.ts'

const OF_DRAWDOWN = ['drawdown', 'drawdownFlatten'] as const

/** Describes what a release does to the peaks of a drawdown, or why it is refused. */
export interface PeakRelease {
  /** All steps count from now, except a last step that is `kept`. */
  readonly peak: 'kept' | 'new'
  /** The earlier peak, and now: equity of the account, else net profit. */
  readonly from: string
  readonly to: string
  /** Below the peak of the last step. */
  readonly below: string
  /** `warn at 97.00, reducing at 95.00, flatten at 92.00` */
  readonly limits: string
  /** The used share of the last step: `69.1 %`. */
  readonly lastUsed?: string
  /** Present if the last step would close everything again at once, at or below this level. */
  readonly closesBelow?: string
}

/**
 * The last step of a drawdown keeps its peak unless a new one is asked for, so that releases cannot
 * lower it in silence. A release is refused before the cool-down is over, where that step would
 * fire at once, and where a strategy would order what the account holds.
 */
export function releaseScope(core: Core, order: ReleaseCommand): void {
  const { scope, reason, by } = order
  const leftMs = coolDownLeftMs(core, scope, core.settings.losses)
  if (leftMs > 0) {
    const until = new Date(core.now + leftMs).toISOString()
    return announce(core, 'warn', 'limits.coolDown', { scope, by, leftMs, until })
  }
  const why = objectToRelease(core, order)
  if (why !== undefined) return announce(core, 'warn', 'limits.notReleased', { scope, by, why })
  const moved = planPeakRelease(core, order)
  if (moved?.closesBelow !== undefined) {
    const { from, to, below, closesBelow } = moved
    return announce(core, 'warn', 'limits.notReleased', { scope, by, from, to, below, closesBelow })
  }
  const orderedAgain = findOrderedAgain(core, order)
  if (orderedAgain)
    return announce(core, 'warn', 'trading.notReleased', { scope, by, orderedAgain })
  if (moved) {
    const { from, to, below, limits } = moved
    announce(core, 'warn', 'limits.peakMoved', { scope, by, from, to, below, limits })
  }
  const peak = peakOfRelease(core, order)
  if (peak === 'kept') writePeaks(core)
  endRestrictions(core, { scope, reason, by, ...(peak && { peak }) })
}

function endRestrictions(core: Core, order: ScopeRelease): void {
  const { scope, by } = order
  const isFlattened = restrictionOf(core.book, scope, 'flatten') !== undefined
  release(core, order)
  if (!isFlattened) return
  const stillHeld = describeLeftOpen(core, scope)
  if (Object.keys(stillHeld).length === 0) return
  const isOfRunBefore = core.run.phase === 'starting'
  announce(core, 'warn', 'flatten.dropped', {
    scope,
    by,
    stillHeld,
    ...(isOfRunBefore && { isOfRunBefore }),
  })
}

function peakOfRelease(core: Core, { scope, newPeak }: ReleaseCommand): 'kept' | 'new' | undefined {
  const drawdown = core.settings.losses?.limits.get(scope)?.drawdown
  if (newPeak) return drawdown && 'new'
  return drawdown?.flatten !== undefined && isHeld(core, scope) ? 'kept' : undefined
}

function isHeld({ book }: Core, scope: Scope): boolean {
  return OF_DRAWDOWN.some((code) => restrictionOf(book, scope, code))
}

/** Without figures nobody sees what the peak becomes, or that the last step fires again. */
export function objectToRelease(core: Core, order: ReleaseCommand): string | undefined {
  const { scope, newPeak = false } = order
  const isLimited = core.settings.losses?.limits.get(scope)?.drawdown !== undefined
  if (!isLimited || !(newPeak || isHeld(core, scope)) || usedLossOf(core, scope)) return undefined
  return `how far ${scope} is below its peak is not known now, because a part of its profit is missing (no fresh prices, or no reading of a position); release it when \`intentd status\` shows its drawdown`
}

/** @returns undefined if no drawdown is released, or its worth is unknown */
export function planPeakRelease(core: Core, order: ReleaseCommand): PeakRelease | undefined {
  const { scope, newPeak = false } = order
  const drawdown = core.settings.losses?.limits.get(scope)?.drawdown
  const used = usedLossOf(core, scope)
  if (drawdown === undefined || used === undefined || !(newPeak || isHeld(core, scope)))
    return undefined
  const { flatten } = drawdown
  const isKept = !newPeak && flatten !== undefined
  const capital = scope === ACCOUNT ? Number(capitalOf(core)?.toString() ?? 0) : 0
  const peakOf = (step: DrawdownStep): number =>
    capital + (isKept && step === 'flatten' ? used.lastPeak : used.net)
  const levelOf = (step: DrawdownStep): number =>
    lastLevel(scope, peakOf(step), drawdown[step] ?? 0)
  const isAgain = isKept && isLossReached(used.lastDrawdown, flatten)
  return {
    peak: newPeak ? 'new' : 'kept',
    from: toAmountText(core, capital + used.lastPeak),
    to: toAmountText(core, capital + used.net),
    below: showDrawdown(core, scope, used.lastDrawdown),
    limits: describeLevels(core, drawdown, levelOf),
    ...(isKept && { lastUsed: `${((100 * used.lastDrawdown) / flatten).toFixed(1)} %` }),
    ...(isAgain && { closesBelow: toAmountText(core, levelOf('flatten')) }),
  }
}

function describeLevels(
  core: Core,
  drawdown: NonNullable<LossLimits['drawdown']>,
  levelOf: (step: DrawdownStep) => number,
): string {
  const steps = DRAWDOWN_STEPS.filter((step) => drawdown[step] !== undefined)
  return steps.map((step) => `${step} at ${showAmount(core, levelOf(step))}`).join(', ')
}

function lastLevel(scope: Scope, peak: number, limit: number): number {
  return scope === ACCOUNT ? peak * (1 - limit) : peak - limit
}

export function levelOfStep(
  core: Pick<Core, 'settings' | 'book'>,
  { scope, peak: earlier, lastPeak }: UsedLoss,
  { step, limit }: { readonly step: DrawdownStep; readonly limit: number },
): { readonly peak: number; readonly level: number } {
  const capital = scope === ACCOUNT ? Number(capitalOf(core)?.toString() ?? 0) : 0
  const peak = capital + (step === 'flatten' ? lastPeak : earlier)
  return { peak, level: lastLevel(scope, peak, limit) }
}

function coolDownLeftMs(
  { book, run, now }: Core,
  scope: Scope,
  losses: LossSettings | undefined,
): number {
  const held = OF_DRAWDOWN.map((code) => restrictionOf(book, scope, code))
  const newest = Math.max(...held.map((restriction) => restriction?.at ?? Number.NEGATIVE_INFINITY))
  // If the clock was ahead, it was before this run.
  const reachedAt = newest > now ? Math.min(newest, run.startedAt) : newest
  return reachedAt + (losses?.coolDownMs ?? 0) - now
}

type ReleaseBasis = Pick<Core, 'book' | 'settings'>

/**
 * No target counts the lots of no strategy, so a strategy would order them again.
 * @returns a reason by symbol; undefined if the command allows it, or the release would end nothing
 */
export function findOrderedAgain(
  core: ReleaseBasis,
  { scope, unclaimed }: Pick<ReleaseCommand, 'scope' | 'unclaimed'>,
): Readonly<Record<string, string>> | undefined {
  const endsAny = [...core.book.restrictions.values()].some(
    (one) => one.scope === scope && one.code !== 'kill',
  )
  if (unclaimed === true || !endsAny) return undefined
  const found = [...core.settings.instruments.keys()].flatMap((symbol) => {
    const left = unclaimedHolding(core.book, symbol)
    if (isFlat(left) || hasUnownedFills(core.book, symbol)) return []
    const wishes = [...core.settings.strategies.values()]
      .filter(({ id, symbols }) => symbols.includes(symbol) && isInScope(scope, id, symbol))
      .flatMap(({ id }) => describeWish(core, { id, symbol, left }) ?? [])
    if (wishes.length === 0) return []
    const text = `no strategy holds ${describeSides(core.book, symbol, left)}, and ${wishes.join(', ')}`
    return [[symbol, text] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

interface PossibleWish {
  readonly id: StrategyId
  readonly symbol: string
  readonly left: Holding
}

function describeWish(
  { book }: ReleaseBasis,
  { id, symbol, left }: PossibleWish,
): string | undefined {
  const target = book.targets.get(pairOf(id, symbol)) ?? 0
  const held = holdingOf(book, id, symbol)
  const isLong = left.longLots > 0 && target > held.longLots
  const isShort = left.shortLots > 0 && -target > held.shortLots
  if (!isLong && !isShort) return undefined
  const wanted = { longLots: Math.max(0, target), shortLots: Math.max(0, -target) }
  const has = isFlat(held) ? 'none' : describeSides(book, symbol, held)
  return `${id} wants ${describeSides(book, symbol, wanted)} and has ${has}`
}
