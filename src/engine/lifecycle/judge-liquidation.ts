import {
  LIQUIDATION_DISPUTE_MS,
  type LiquidationDistance,
  type LiquidationSteps,
} from '../../domain/liquidation.ts'
import { isFlat } from '../../domain/position.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { accountHoldingOf } from '../book/book.ts'
import { announce, type Core, specOf } from '../state/core.ts'
import {
  confirmNear,
  forgetDistances,
  lotsToClose,
  measureDistances,
  noteAlone,
  noteNear,
  REARMED,
  threatenedOf,
} from '../state/liquidations.ts'
import { askForPositionAgain } from '../state/losses.ts'
import { isPositionUnread, ownPriceOf } from '../state/own-figure.ts'
import { endReductions, marginModeOf, reduceTo } from '../state/trading-mode.ts'
import { expirePlaces } from '../strategies/take-decision.ts'
import { startFlatten } from './flatten.ts'
import { holdOnce } from './judge-losses.ts'

const BY = 'liquidation steps'

/**
 * Judges `risk.liquidation` whenever profit was compared. docs/risk.md has the steps, what each
 * follows from, and when our figure alone counts (MON1).
 *
 * Only the instrument that comes too near is closed: that frees what the others stand on.
 */
export function judgeLiquidation(core: Core, symbols: readonly string[]): void {
  const { liquidation } = core.settings
  if (!liquidation) return
  for (const symbol of symbols) {
    if (isFlat(accountHoldingOf(core.book, symbol))) {
      forgetDistances(core, symbol)
      endReductions(core, { code: 'liquidationNear', symbols: [symbol] })
      continue
    }
    const distances = measureDistances(core, symbol)
    if (liquidation.steps && distances.length > 0)
      judgeDistances(core, symbol, distances, liquidation.steps)
  }
}

function judgeDistances(
  core: Core,
  symbol: string,
  distances: readonly LiquidationDistance[],
  steps: LiquidationSteps,
): void {
  if (isQuiet(core, distances, steps)) return
  const { warn, reduce, flatten } = steps
  const threatened = threatenedOf(core, symbol, distances)
  const isUnread = isPositionUnread(core, symbol)
  for (const distance of threatened) {
    if (!isUnread && noteAlone(core, distance)) announceAlone(core, distance)
    if (!noteNear(core, distance, warn)) continue
    const { holdSide, trust } = distance
    announce(core, 'warn', 'liquidation.near', {
      symbol,
      holdSide,
      trust,
      reason: reasonOf(distance, warn),
    })
  }
  // Prices alone take no step, and take none back.
  if (isUnread) return
  const near = threatened.find((one) => farthestOf(core, one) <= reduce)
  if (near) holdOnce(core, symbol, 'liquidationNear', reasonOf(near, reduce))
  if (near) {
    if (confirmNear(core, { symbol, step: 'reduce' }, true)) reducePart(core, near, reduce)
  } else if (!threatened.some((one) => mayBeWithin(one, reduce))) {
    confirmNear(core, { symbol, step: 'reduce' }, false)
    endReductions(core, { code: 'liquidationNear', symbols: [symbol] })
  }
  const last = threatened.find((one) => farthestOf(core, one) <= flatten)
  if (last) {
    if (!confirmNear(core, { symbol, step: 'flatten' }, true))
      return askForPositionAgain(core, symbol)
    const reason = reasonOf(last, flatten)
    if (holdOnce(core, symbol, 'liquidationFlatten', reason))
      startFlatten(core, { scope: symbol, reason, by: BY })
  } else if (!threatened.some((one) => mayBeWithin(one, flatten)))
    confirmNear(core, { symbol, step: 'flatten' }, false)
}

/** Everything is far, and nothing was logged or asked for before, so nothing below would change. */
function isQuiet(
  { liquidation: { warned, awaited, alone }, reductions }: Core,
  distances: readonly LiquidationDistance[],
  { warn, reduce, flatten }: LiquidationSteps,
): boolean {
  if (warned.size + awaited.size + alone.size + reductions.size > 0) return false
  const far = Math.max(warn, reduce, flatten)
  return distances.every(({ nearest, trust }) => nearest > far && trust !== 'alone')
}

/**
 * If one figure alone is within the step, or none is known, a reading neither confirms the step nor
 * takes an earlier confirmation back.
 */
function mayBeWithin({ nearest }: LiquidationDistance, step: number): boolean {
  return !(nearest > step)
}

function reducePart(core: Core, near: LiquidationDistance, step: number): void {
  const { symbol, holdSide } = near
  const lots = lotsToClose(core, symbol, { holdSide, share: step * REARMED })
  if (lots === 0) return
  const reason = reasonOf(near, step)
  if (!reduceTo(core, { symbol, holdSide, lots, code: 'liquidationNear', reason })) return
  const size = formatOnGrid(specOf(core, symbol).lot, lots)
  announce(core, 'error', 'position.reducing', { symbol, holdSide, size, reason })
  expirePlaces(core)
}

/** Both witnesses say at least this distance: one of them alone restricts nothing. */
function farthestOf(core: Core, distance: LiquidationDistance): number {
  const { symbol, ours, stated, trust, ratioTrust } = distance
  // If only rows state the margin mode, our figure follows from their margin, and is no second one.
  const isOwn = marginModeOf(core, symbol) === core.settings.marginMode
  if (!isOwn && trust !== 'agreed') return Number.POSITIVE_INFINITY
  switch (trust) {
    case 'agreed':
      return Math.max(ours, stated)
    case 'disputed':
      return ratioTrust === 'agreed' ? ours : Math.max(ours, stated)
    case 'alone':
      return ours
    case 'ours':
      return ratioTrust === 'agreed' || isProfitTrusted(core, symbol)
        ? ours
        : Number.POSITIVE_INFINITY
    case 'stated':
    case 'none':
      return Number.POSITIVE_INFINITY
    default:
      return unreachable(trust)
  }
}

/**
 * Limits on losses trust the profit in the same way: both figures agree, or they have differed so
 * long that ours counts, at prices in their band.
 */
function isProfitTrusted(core: Core, symbol: string): boolean {
  const trust = core.losses.worths.get(symbol)?.trust
  return trust === 'agreed' || (trust === 'alone' && ownPriceOf(core, symbol).isInBand)
}

function announceAlone(core: Core, distance: LiquidationDistance): void {
  const { symbol, holdSide } = distance
  const minutes = LIQUIDATION_DISPUTE_MS / 60_000
  const reason = `${describe(distance)}; they have differed for ${minutes} minutes, so ours alone takes the steps`
  announce(core, 'error', 'liquidation.judgedAlone', { symbol, holdSide, reason })
}

function reasonOf(distance: LiquidationDistance, limit: number): string {
  const { trust } = distance
  const differ =
    trust === 'disputed' ? ' (they differ)' : trust === 'alone' ? ' (ours counts alone)' : ''
  return `${describe(distance)}${differ}, limit ${percent(limit)}`
}

function describe({
  holdSide,
  markPrice,
  ownPrice,
  ours,
  stated,
  trust,
  ...liquidatedAt
}: LiquidationDistance): string {
  const ofOurs = `${away(ours, liquidatedAt.ourPrice)} by our own count at ${ownPrice}`
  const ofStated = `${away(stated, liquidatedAt.statedPrice)} as the exchange states it at a mark of ${markPrice}`
  const figures = [...(trust === 'stated' ? [] : [ofOurs]), ...(trust === 'ours' ? [] : [ofStated])]
  return `the ${holdSide} position is ${figures.join(', and ')}`
}

function away(distance: number, price: number): string {
  if (Number.isNaN(distance)) return 'at a distance that is not known'
  if (!Number.isFinite(distance)) return 'liquidated at no price'
  return `${percent(distance)} from ${price.toPrecision(7)}`
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
